/* Timing rules; the twin of costs.py, lanes.py and conflicts.py. */

typedef struct {
  double busy, tail;
  bool has_traffic;
  double floor, per_byte;
  int64_t indirect;
} cost_t;

/* The lanes of an instruction, with every axis on which all operands go on without a gap merged. */
typedef struct {
  int32_t axes, operands;
  int64_t extent[MOST_RANK], offset[MOST_OPERANDS], stride[MOST_OPERANDS][MOST_RANK], size[MOST_OPERANDS];
} lanes_t;

static double larger(double a, double b) { return b > a ? b : a; }

static void lanes_of(const geometry_t *const *region, int32_t count, lanes_t *made) {
  const geometry_t *first = region[0];
  int32_t rank = first->rank, axes = 0;
  int64_t extent[MOST_RANK], stride[MOST_OPERANDS][MOST_RANK];
  made->operands = count;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    if (first->shape[axis] == 1) continue;
    int64_t step[MOST_OPERANDS];
    bool goes_on = axes > 0;
    for (int32_t number = 0; number < count; number++) {
      int32_t own = axis - (rank - region[number]->rank);
      step[number] = own < 0 || region[number]->shape[own] == 1 ? 0 : region[number]->stride[own];
      if (axes && step[number] != stride[number][axes - 1] * extent[axes - 1]) goes_on = false;
    }
    if (goes_on) {
      extent[axes - 1] *= first->shape[axis];
      continue;
    }
    extent[axes] = first->shape[axis];
    for (int32_t number = 0; number < count; number++) stride[number][axes] = step[number];
    axes++;
  }
  made->axes = axes;
  for (int32_t axis = 0; axis < axes; axis++) {
    made->extent[axis] = extent[axes - 1 - axis];
    for (int32_t number = 0; number < count; number++) made->stride[number][axis] = stride[number][axes - 1 - axis];
  }
  for (int32_t number = 0; number < count; number++) {
    made->offset[number] = region[number]->offset;
    made->size[number] = region[number]->itemsize;
  }
}

static int64_t widest(const lanes_t *lanes) {
  int64_t size = 1;
  for (int32_t number = 0; number < lanes->operands; number++)
    if (lanes->size[number] > size) size = lanes->size[number];
  return size;
}

static int64_t inner_of(const lanes_t *lanes) { return lanes->axes ? lanes->extent[lanes->axes - 1] : 1; }

static int64_t rows_of(const lanes_t *lanes) {
  int64_t rows = 1;
  for (int32_t axis = 0; axis < lanes->axes - 1; axis++) rows *= lanes->extent[axis];
  return rows;
}

static bool contiguous(const lanes_t *lanes) {
  if (!lanes->axes) return true;
  for (int32_t number = 0; number < lanes->operands; number++) {
    int64_t stride = lanes->stride[number][lanes->axes - 1];
    if (stride != 0 && stride != lanes->size[number]) return false;
  }
  return true;
}

static int64_t at_least_one(double value) {
  int64_t whole = (int64_t)floor(value);
  return whole > 1 ? whole : 1;
}

static int64_t steps_of(const lanes_t *lanes, double rate, int64_t block, bool *partial) {
  *partial = false;
  for (int32_t axis = 0; axis < lanes->axes; axis++)
    if (lanes->extent[axis] <= 0) return 0;
  int64_t blocks = at_least_one(rate / (double)block), rows = rows_of(lanes), inner = inner_of(lanes);
  if (!contiguous(lanes)) return ceil_div(rows * inner, blocks);
  int64_t itemsize = widest(lanes), width = at_least_one(rate / (double)itemsize);
  if (lanes->axes > 1 && inner * itemsize <= block) return ceil_div(rows, blocks);
  *partial = inner % width != 0;
  return rows * ceil_div(inner, width);
}

/* A set of at most MOST_BLOCKS numbers. */
#define MOST_BLOCKS 64
typedef struct {
  int64_t number[MOST_BLOCKS];
  int32_t count;
} set_of_t;

static void include(set_of_t *set, int64_t number) {
  for (int32_t place = 0; place < set->count; place++)
    if (set->number[place] == number) return;
  if (set->count < MOST_BLOCKS) set->number[set->count++] = number;
}

static void blocks_of(const lanes_t *lanes, int32_t operand, int64_t step, int64_t width, int64_t block, set_of_t *found) {
  int64_t per_row = ceil_div(inner_of(lanes) * widest(lanes), block);
  found->count = 0;
  for (int64_t number = step * width; number < step * width + width; number++) {
    int64_t row = number / per_row, place = number % per_row;
    int64_t address = lanes->offset[operand];
    if (lanes->axes && lanes->stride[operand][lanes->axes - 1]) address += place * block;
    for (int32_t axis = lanes->axes - 2; axis >= 0; axis--) {
      address += row % lanes->extent[axis] * lanes->stride[operand][axis];
      row /= lanes->extent[axis];
    }
    if (row == 0) include(found, address / block);
  }
}

static double read_conflict(const set_of_t *read, int32_t count, const machine_t *machine) {
  set_of_t wanted = {{0}, 0};
  bool repeats = false;
  for (int32_t number = 0; number < count; number++) {
    repeats = repeats || read[number].count == 1;
    for (int32_t place = 0; place < read[number].count; place++) include(&wanted, read[number].number[place]);
  }
  int64_t most = 1;
  for (int32_t place = 0; place < wanted.count; place++) {
    int64_t together = 0;
    for (int32_t other = 0; other < wanted.count; other++)
      together += wanted.number[other] % machine->bank_groups == wanted.number[place] % machine->bank_groups;
    if (together > most) most = together;
  }
  return most <= 1 ? 0.0 : (double)(most - 1) * (repeats ? machine->repeated_block : machine->read_read);
}

static double conflict_cycles(const lanes_t *lanes, int64_t steps, double rate, const machine_t *machine) {
  int32_t source[MOST_OPERANDS], sources = 0;
  for (int32_t number = 0; number < lanes->operands; number++) {
    if (lanes->size[number] != lanes->size[0]) return 0.0;
    bool moves = false;
    for (int32_t axis = 0; axis < lanes->axes; axis++) moves = moves || lanes->stride[number][axis];
    if (number && moves) source[sources++] = number;
  }
  if (machine->bank_groups <= 1 || !sources || !contiguous(lanes) || !steps) return 0.0;
  int64_t width = at_least_one(rate / (double)machine->block), count = steps < 16 ? steps : 16;
  int64_t per_bank = machine->bank_bytes / machine->block;
  double total = 0.0;
  for (int64_t step = 0; step < count; step++) {
    set_of_t read[MOST_OPERANDS], written, next;
    for (int32_t number = 0; number < sources; number++)
      blocks_of(lanes, source[number], step, width, machine->block, &read[number]);
    double extra = read_conflict(read, sources, machine);
    bool meets_write = false;
    blocks_of(lanes, 0, step, width, machine->block, &written);
    for (int32_t number = 0; number < sources && !meets_write; number++) {
      blocks_of(lanes, source[number], step + 1, width, machine->block, &next);
      for (int32_t a = 0; a < written.count; a++)
        for (int32_t b = 0; b < next.count; b++)
          meets_write = meets_write || (written.number[a] / per_bank == next.number[b] / per_bank &&
                                        written.number[a] % machine->bank_groups == next.number[b] % machine->bank_groups);
    }
    total += larger(extra, meets_write ? machine->read_write : 0.0);
  }
  return total / (double)count;
}

/* Rows and steps a row of a reduction; true if the axis runs along the lanes of a step. */
static bool along_axis(const geometry_t *source, int32_t axis, double rate, int64_t *rows, int64_t *width) {
  int64_t extent = source->shape[axis], lanes = at_least_one(rate / (double)source->itemsize);
  if (extent > 1 && source->stride[axis] == source->itemsize) {
    *rows = source->elements / extent;
    *width = ceil_div(extent, lanes);
    return true;
  }
  int64_t last = source->shape[source->rank - 1];
  *rows = source->elements / last;
  *width = ceil_div(last, lanes);
  return false;
}

static cost_t cost_of(const item_t *item, const geometry_t *const *operand, const geometry_t *const *region, int32_t regions,
                      const geometry_t *offsets, const int64_t *value, const machine_t *machine) {
  cost_t cost = {0.0, 0.0, false, 0.0, 0.0, 0};
  switch (item->rule) {
  case RULE_MOVE: {
    const geometry_t *destination = operand[0], *source = operand[1];
    int64_t elements = item->fills ? destination->elements : source->elements;
    double inside = (double)(elements * source->itemsize) / item->rate;
    double least = larger(item->issue, item->row_cycles * (double)source->runs);
    cost.tail = item->latency;
    if (!item->traffic) {
      cost.busy = larger(least, inside);
      break;
    }
    if (item->fills) least = larger(least, inside);
    const geometry_t *outside = item->traffic == TRAFFIC_READ ? source : destination;
    cost.has_traffic = true;
    cost.floor = least;
    cost.per_byte = (double)source->itemsize / ((double)outside->itemsize * item->rate);
    break;
  }
  case RULE_INDIRECT:
    cost.tail = item->latency;
    cost.has_traffic = true;
    cost.floor = item->issue * (double)offsets->elements;
    cost.per_byte = 1 / item->rate;
    cost.indirect = offsets->elements;
    break;
  case RULE_VECTOR: {
    lanes_t lanes;
    bool partial;
    lanes_of(region, regions, &lanes);
    int64_t steps = steps_of(&lanes, item->rate, machine->block, &partial);
    double extra = conflict_cycles(&lanes, steps, item->rate, machine) * (double)steps;
    cost.busy = item->per_step * (double)steps + extra + (partial ? machine->mask_cycles : 0.0);
    cost.tail = item->startup;
    break;
  }
  case RULE_REDUCTION:
  case RULE_SCAN: {
    const geometry_t *source = region[regions - 1];
    int64_t rows, width;
    cost.tail = item->startup;
    if (!source->elements) break;
    bool along_lanes = along_axis(source, item->axis, item->rate, &rows, &width);
    if (item->rule == RULE_REDUCTION) {
      cost.busy = (double)(rows * width) * (along_lanes ? item->per_step : 1.0);
      break;
    }
    double passes = along_lanes ? larger(1.0, ceil(log2((double)source->shape[item->axis]))) : 1.0;
    cost.busy = (double)(rows * width) * item->per_step * passes;
    cost.tail = item->startup * passes;
    break;
  }
  case RULE_LANES:
    cost.busy = item->per_step * ceil((double)(region[0]->elements * region[0]->itemsize) / item->rate);
    cost.tail = item->startup;
    break;
  case RULE_MATRIX: {
    const geometry_t *accumulator = operand[0], *lhs = operand[1];
    int64_t extents[3] = {accumulator->shape[accumulator->rank - 2], accumulator->shape[accumulator->rank - 1],
                          lhs->shape[lhs->rank - 1]};
    int64_t products = 1;
    for (int32_t axis = 0; axis < 3; axis++) products *= ceil_div(extents[axis], item->fractal[axis]);
    cost.busy = (double)products / item->rate;
    break;
  }
  case RULE_SCALAR: cost.busy = machine->operation; break;
  case RULE_SCALAR_MEMORY: cost.busy = item->traffic ? machine->global_memory : machine->local_memory; break;
  case RULE_CYCLES: cost.busy = (double)value[0]; break;
  case RULE_FLAG: cost.busy = machine->flag; break;
  default: break;
  }
  return cost;
}
