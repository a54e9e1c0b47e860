/* What the scalar unit computes itself; everything else is asked of Python. Kinds: 0 bool, 1 signed, 2 unsigned, 3 float. */

enum {
  ASK, SET, ADD, SUB, MUL, DIV, REM, MIN, MAX, AND, OR, XOR, NOT, SHL, SHR, NEG, ABS, EQ, NE, LT, LE, GT, GE, SELECT, CAST
};

static int64_t wrap(int64_t value, int32_t bits, int32_t kind) {
  if (kind == 0) return value != 0;
  switch (bits) {
  case 8: return kind == 1 ? (int8_t)value : (uint8_t)value;
  case 16: return kind == 1 ? (int16_t)value : (uint16_t)value;
  case 32: return kind == 1 ? (int32_t)value : (int64_t)(uint32_t)value;
  default: return value;
  }
}

static double as_double(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int64_t as_bits(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static bool below(int64_t a, int64_t b, int32_t kind) {
  return kind == 2 ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Truncating division; anything divided by 0 is 0, the lowest number divided by -1 wraps around. */
static int64_t divide(int64_t a, int64_t b, int32_t kind, bool remainder) {
  if (!b) return 0;
  if (kind == 2) return (int64_t)(remainder ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
  if (b == -1) return remainder ? 0 : (int64_t)(0u - (uint64_t)a);
  return remainder ? a % b : a / b;
}

static int64_t shift(int64_t a, int64_t b, int32_t bits, int32_t kind, bool left) {
  if (b < 0 || b >= bits) return left || kind == 2 || a >= 0 ? 0 : -1;
  if (left) return (int64_t)((uint64_t)a << b);
  return kind == 2 ? (int64_t)((uint64_t)a >> b) : a >> b;
}

static int64_t integer_result(const item_t *item, int64_t a, int64_t b, int64_t c) {
  int32_t bits = item->bits, kind = item->kind;
  switch (item->scalar_op) {
  case ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
  case SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
  case MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
  case DIV: return divide(a, b, kind, false);
  case REM: return divide(a, b, kind, true);
  case MIN: return below(b, a, kind) ? b : a;
  case MAX: return below(a, b, kind) ? b : a;
  case AND: return a & b;
  case OR: return a | b;
  case XOR: return a ^ b;
  case NOT: return kind ? ~a : !a;
  case SHL: return shift(a, b, bits, kind, true);
  case SHR: return shift(a, b, bits, kind, false);
  case NEG: return (int64_t)(0u - (uint64_t)a);
  case ABS: return kind == 1 && a < 0 ? (int64_t)(0u - (uint64_t)a) : a;
  case EQ: return a == b;
  case NE: return a != b;
  case LT: return below(a, b, kind);
  case LE: return !below(b, a, kind);
  case GT: return below(b, a, kind);
  case GE: return !below(a, b, kind);
  case SELECT: return a ? b : c;
  default: return a;
  }
}

/* The value an item sets its register to, if the item is one that is computed here. Its numbers are in its dtype. */
static bool computed(const item_t *item, const int64_t *value, int64_t *result) {
  if (item->scalar_op == ASK) return false;
  int64_t operand[3] = {0, 0, 0};
  for (int32_t number = 0; number < item->slots && number < 3; number++) {
    bool is_condition = item->scalar_op == SELECT && number == 0;
    operand[number] = is_condition ? value[number] & 1 : wrap(value[number], item->bits, item->kind);
  }
  *result = wrap(integer_result(item, operand[0], operand[1], operand[2]), item->result_bits, item->result_kind);
  return true;
}
