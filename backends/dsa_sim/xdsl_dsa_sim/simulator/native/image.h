/* What Python hands over: the program, the machine, the cores that take part. Plain data; read by cffi as it stands. */

typedef struct {
  int32_t reg;      /* index of a register, -1 for none */
  int32_t is_float; /* whether the number is a double */
  int64_t integer;  /* constant, or what is added to the register */
  double real;
} slot_t;

typedef struct {
  int32_t kind; /* 0 nothing, 1 region, 2 number */
  int32_t reads, writes;
  int32_t space, itemsize, rank, first;
  int32_t block_rows, block_columns; /* 0 without blocks */
  int32_t is_offsets;
} operand_t;

typedef struct {
  int32_t action, engine, other, reg;
  int32_t slots, first_slot, operands, first_operand;
  int32_t rule, shape_rule, alike_count, alike[8];
  int32_t fills, starts_sum, is_path, is_scalar_unit, traffic, bypass, axis, scope;
  int32_t scalar_op, bits, kind, result_bits, result_kind;
  int64_t fractal[3];
  double rate, latency, issue, row_cycles, per_step, startup;
} item_t;

typedef struct {
  int32_t code, item, reg, hidden, target, first_slot;
} step_t;

typedef struct {
  int32_t steps, items, slots, operands, registers, engines, scalar_engine, kind, per_group;
  const step_t *step;
  const item_t *item;
  const slot_t *slot;
  const operand_t *operand;
  const uint8_t *float_register;
  double l2_capacity, shared_weight;
} core_image_t;

typedef struct {
  int32_t image, group, first_engine;
  int32_t first_register; /* into the initial registers of all cores */
} core_setup_t;

typedef struct {
  int64_t capacity, alignment;
  int32_t owner; /* 0 core, 1 cluster, 2 device */
  int32_t core;  /* kind of core that has it, -1 for all */
} space_t;

typedef struct {
  int64_t address, host, size;
  int32_t writable;
} storage_t;

typedef struct {
  int64_t segment, request, line, l2_lines;
  double miss_latency, dram_capacity, dram_read_capacity;
  double head_isolated;
  int64_t block, bank_groups, bank_bytes;
  double read_read, read_write, repeated_block, mask_cycles;
  double operation, branch, issue, local_memory, global_memory;
  double flag, cross_latency;
  int32_t event_flags, event_count, cross_flags, cross_count, queue_depth;
} machine_t;

typedef struct {
  int32_t images, cores, spaces, storages, groups, group_engines, stride;
  const core_image_t *image;
  const core_setup_t *core;
  const space_t *space;
  const storage_t *storage;
  const int64_t *registers;
  machine_t machine;
  int64_t workspace, workspace_bytes; /* bytes of one group */
  int32_t functional, timed, trace;
  int64_t max_steps;
} setup_t;

typedef struct {
  double busy, first, last, held;
  int64_t count;
} engine_totals_t;

typedef struct {
  double busy;
  int64_t count, bytes, work;
} item_totals_t;

typedef struct {
  int32_t core, engine, item, program;
  double start, free_at, end;
} event_t;

typedef struct {
  int32_t core, engine, to_core, to_engine;
  double set_at, taken_at;
} arrow_t;

typedef struct {
  int32_t core, engine, item, flag;
} waiting_t;

typedef struct {
  int32_t kind, core, item; /* kind 0: none, -1: the callback stopped the run, -2: out of memory */
  double cycle;
  int64_t detail[5];
} fault_t;

typedef struct {
  double *core_cycles;
  engine_totals_t *engine; /* core * stride + engine */
  double *wait;            /* (core * stride + engine) * (stride + 1) + other engine, the last for other cores */
  item_totals_t **item;    /* by image */
  int64_t *high_water;     /* image * spaces + space */
  int64_t dram_read, dram_written, l2_moved;
  event_t *event;
  int64_t events;
  arrow_t *arrow;
  int64_t arrows;
  waiting_t *waiting;
  int32_t waitings;
  fault_t fault;
} record_t;

/* Runs an instruction's meaning; writes the register's new value to *result; not 0 stops the run. */
typedef int32_t (*execute_t)(int32_t core, int32_t item, const int64_t *values, int32_t program, int64_t *result);

int32_t simulate(const setup_t *setup, record_t *record, execute_t execute);
void release(record_t *record);
