/* The state of a run; the twin of python/state.py. */

enum { CODE_ITEM, CODE_JUMP, CODE_BRANCH_ZERO, CODE_LOOP, CODE_NEXT, CODE_END };
enum {
  COMPUTE, SET_FLAG, WAIT_FLAG, BARRIER, SET_CROSS, WAIT_CROSS, BARRIER_CORES,
  REGISTER, LOAD, STORE, WORK, PROGRAM, EFFECT
};
enum {
  MISALIGNED = 1, RACE, UNWRITTEN, FLAG_RANGE, FLAG_COUNT, OUTSIDE_GLOBAL, OUTSIDE_SPACE, DEADLOCK, FLAG_LEFT,
  LIMIT, EXTENTS
};
enum { RULE_NONE, RULE_MOVE, RULE_INDIRECT, RULE_VECTOR, RULE_REDUCTION, RULE_SCAN, RULE_LANES, RULE_MATRIX,
       RULE_SCALAR, RULE_SCALAR_MEMORY, RULE_CYCLES, RULE_FLAG };
enum { SHAPES_FREE, SHAPES_COPY, SHAPES_SAME, SHAPES_BROADCAST, SHAPES_MATRIX, SHAPES_REDUCE };
enum { HAPPEN_SCALAR, HAPPEN_ENGINE, HAPPEN_COMPLETE, HAPPEN_FLAG, HAPPEN_POOL };
enum { NO_TRAFFIC, TRAFFIC_READ, TRAFFIC_WRITE };

#define NEVER INFINITY
#define DRAM_POOLS 2
#define MOST_RANK 6
#define MOST_OPERANDS 8

typedef struct {
  int64_t extent, stride;
} dimension_t;

/* Runs of bytes without gaps; see geometry.py. */
typedef struct {
  int64_t offset, run, elements, itemsize, runs, high;
  int32_t dimensions, rank;
  dimension_t dimension[MOST_RANK];
  int64_t shape[MOST_RANK], stride[MOST_RANK];
} geometry_t;

typedef struct {
  int32_t operand, space, reads, writes;
  geometry_t geometry;
} touch_t;

typedef struct {
  geometry_t geometry;
  int32_t writes, item, program;
  int64_t count;
} use_t;

/* What an engine of a group used in one memory: uses in the order in which they first came, found by their hash.
   `writes` of them write; in global memory `held` counts them by the last byte of their program's number, and known
   ones are forgotten when there are more than `limit`. */
typedef struct {
  use_t *use;
  int32_t *slot, *held;
  int32_t uses, room, slots, writes, limit;
  int64_t latest;
} log_t;

typedef struct {
  uint8_t *mark;
  int64_t base, size;
  int32_t by_program, user_count;
  int32_t *user;
  log_t *log; /* by engine of the group */
} watched_t;

typedef struct setting {
  struct setting *next; /* of the same flight, or of the free ones */
  int32_t target, index; /* the core whose flag it is, and which of its flags */
  int32_t crosses, flag, core, engine, item;
  int64_t *known;
} setting_t;

typedef struct {
  int64_t *known;
  double at;
  int32_t core, engine, item;
} set_t;

typedef struct {
  int32_t count, first;
  set_t *set; /* a ring as long as the flag may be set */
} flag_t;

typedef struct {
  const item_t *item;
  int32_t number, program;
  double available;
  int64_t *known, *value;
} pending_t;

typedef struct {
  pending_t pending;
  int32_t touches;
  touch_t touch[MOST_OPERANDS];
  double start, free_at;
  setting_t *settings, *last_setting;
} flight_t;

typedef struct {
  int32_t owner, uses;
  double remaining, limit, latency, rate;
  double *use;
} flow_t;

typedef struct {
  pending_t *queue; /* a ring of queue_depth */
  int32_t queued, head;
  flight_t *flight; /* a ring that grows */
  int32_t flights, oldest, room;
  double free_at, last_end, wake_at, blocked_since;
  int32_t waiting, held, has_flow, stalled;
} engine_t;

typedef struct {
  const core_setup_t *setup;
  const core_image_t *image;
  int64_t *registers;
  engine_t *engine;
  watched_t **space;
  int32_t number, step, program, full_queue, waiting, draining, at_barrier, passed_barrier, ended;
  double clock, wake_at, blocked_since;
} core_t;

typedef struct {
  double time;
  uint64_t sequence;
  int32_t happening;
  uint64_t subject;
} happening_t;

typedef struct {
  int64_t number;
  double time;
  int32_t before, after, core, dirty, chained;
} line_t;

typedef struct {
  line_t *line;
  int32_t *bucket;
  int32_t lines, buckets, newest, oldest, spare;
} l2_t;

typedef struct {
  const setup_t *setup;
  const machine_t *machine;
  record_t *record;
  execute_t execute;
  core_t *core;
  int64_t *known; /* group, engine, engine it knows of */
  watched_t *watched;
  int32_t watched_count;
  flag_t *flag, *cross;
  int32_t most_engines, flags_a_core, crosses_a_core, most_slots;
  happening_t *heap;
  int64_t happenings, heap_room;
  uint64_t sequence;
  setting_t *free_setting;
  setting_t **setting; /* on their way, by number */
  int64_t settings, setting_room;
  int64_t *free_number;
  int64_t free_numbers;
  flow_t *flow;
  flow_t **spare_flow;
  int32_t flows, pools; /* DRAM's whole traffic, what is read from it, then the L2 of each kind of core */
  double *capacity, pools_time;
  uint64_t pools_version;
  l2_t l2;
  int64_t steps, event_room, arrow_room;
  void **block; /* every allocation of the run */
  int64_t blocks, block_room;
  jmp_buf leave;
} run_t;

static void fail(run_t *run, int32_t kind, int32_t core, int32_t item, double cycle) {
  fault_t *fault = &run->record->fault;
  fault->kind = kind;
  fault->core = core;
  fault->item = item;
  fault->cycle = cycle;
  longjmp(run->leave, 1);
}

static void detail(run_t *run, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  int64_t *found = run->record->fault.detail;
  found[0] = a, found[1] = b, found[2] = c, found[3] = d, found[4] = e;
}

/* Memory that is zero and is freed when the run ends. */
static void *room_for(run_t *run, size_t count, size_t size) {
  if (run->blocks == run->block_room) {
    int64_t more = run->block_room ? 2 * run->block_room : 256;
    void **grown = realloc(run->block, (size_t)more * sizeof *grown);
    if (!grown) fail(run, -2, 0, -1, 0);
    run->block = grown;
    run->block_room = more;
  }
  void *made = calloc(count ? count : 1, size);
  if (!made) fail(run, -2, 0, -1, 0);
  run->block[run->blocks++] = made;
  return made;
}

/* A larger piece of memory of its own; the caller frees it. */
static void *grow(run_t *run, void *old, int64_t *room, size_t size, int64_t first) {
  int64_t more = *room ? 2 * *room : first;
  void *made = realloc(old, (size_t)more * size);
  if (!made) fail(run, -2, 0, -1, 0);
  *room = more;
  return made;
}

static bool earlier(const happening_t *a, const happening_t *b) {
  return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static void push(run_t *run, double time, int32_t happening, uint64_t subject) {
  if (run->happenings == run->heap_room)
    run->heap = grow(run, run->heap, &run->heap_room, sizeof *run->heap, 1024);
  happening_t made = {time, run->sequence++, happening, subject};
  int64_t place = run->happenings++;
  while (place) {
    int64_t parent = (place - 1) / 2;
    if (!earlier(&made, &run->heap[parent])) break;
    run->heap[place] = run->heap[parent];
    place = parent;
  }
  run->heap[place] = made;
}

static happening_t pop(run_t *run) {
  happening_t first = run->heap[0], last = run->heap[--run->happenings];
  int64_t place = 0, count = run->happenings;
  for (;;) {
    int64_t child = 2 * place + 1;
    if (child >= count) break;
    if (child + 1 < count && earlier(&run->heap[child + 1], &run->heap[child])) child++;
    if (!earlier(&run->heap[child], &last)) break;
    run->heap[place] = run->heap[child];
    place = child;
  }
  run->heap[place] = last;
  return first;
}

static void wake(run_t *run, core_t *core, int32_t number, double time) {
  engine_t *engine = &core->engine[number];
  if (time < engine->wake_at) {
    engine->wake_at = time;
    push(run, time, HAPPEN_ENGINE, (uint64_t)(core->number * run->setup->stride + number));
  }
}

static void wake_scalar(run_t *run, core_t *core, double time) {
  if (time < core->wake_at) {
    core->wake_at = time;
    push(run, time, HAPPEN_SCALAR, (uint64_t)core->number);
  }
}

static int64_t *knowledge(run_t *run, const core_t *core, int32_t number) {
  int64_t engines = run->setup->group_engines;
  return run->known + (core->setup->group * engines + core->setup->first_engine + number) * engines;
}

static void learn(run_t *run, int64_t *mine, const int64_t *clock) {
  for (int32_t engine = 0; engine < run->setup->group_engines; engine++)
    if (clock[engine] > mine[engine]) mine[engine] = clock[engine];
}

static void know(run_t *run, int64_t *copy, const int64_t *clock) {
  memcpy(copy, clock, (size_t)run->setup->group_engines * sizeof *copy);
}

static engine_totals_t *totals_of(run_t *run, const core_t *core, int32_t number) {
  return &run->record->engine[core->number * run->setup->stride + number];
}

static double *wait_of(run_t *run, const core_t *core, int32_t number, int32_t other) {
  int32_t stride = run->setup->stride;
  return &run->record->wait[(core->number * stride + number) * (stride + 1) + (other < 0 ? stride : other)];
}
