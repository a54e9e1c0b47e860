/* What is checked of every access before an instruction begins; the twin of python/access.py. */

/* The geometries of an instruction's operands, in one place. */
typedef struct {
  geometry_t geometry[MOST_OPERANDS];
  const geometry_t *operand[MOST_OPERANDS]; /* NULL for those that are no regions */
  const geometry_t *region[MOST_OPERANDS];
  const geometry_t *offsets;
  int32_t regions;
} places_t;

static void places_of(const core_image_t *image, const item_t *item, const int64_t *value, places_t *places) {
  places->regions = 0;
  places->offsets = NULL;
  for (int32_t number = 0; number < item->operands; number++) {
    const operand_t *operand = &image->operand[item->first_operand + number];
    places->operand[number] = NULL;
    if (operand->kind != 1) continue;
    geometry_of(operand, value, &places->geometry[number]);
    places->operand[number] = places->region[places->regions++] = &places->geometry[number];
    if (operand->is_offsets) places->offsets = places->operand[number];
  }
}

static int32_t touches_of(const core_image_t *image, const item_t *item, const places_t *places, const int64_t *value,
                          touch_t *touch) {
  int32_t touches = 0;
  for (int32_t number = 0; number < item->operands; number++) {
    const operand_t *operand = &image->operand[item->first_operand + number];
    const geometry_t *geometry = places->operand[number];
    if (!geometry || !geometry->elements) continue;
    touch_t *made = &touch[touches++];
    made->operand = number;
    made->space = operand->space;
    made->writes = operand->writes;
    made->reads = operand->reads && !(operand->writes && item->starts_sum && !value[item->slots - 1]);
    made->geometry = *geometry;
  }
  return touches;
}

static bool same_shape(const geometry_t *a, const geometry_t *b) {
  if (a->rank != b->rank) return false;
  for (int32_t axis = 0; axis < a->rank; axis++)
    if (a->shape[axis] != b->shape[axis]) return false;
  return true;
}

static bool fits_in(const geometry_t *source, const geometry_t *target) {
  if (source->rank != target->rank) return false;
  for (int32_t axis = 0; axis < source->rank; axis++)
    if (source->shape[axis] > target->shape[axis]) return false;
  return true;
}

static bool broadcasts(const geometry_t *source, const geometry_t *target) {
  if (source->rank > target->rank) return false;
  int32_t missing = target->rank - source->rank;
  for (int32_t axis = 0; axis < source->rank; axis++)
    if (source->shape[axis] != 1 && source->shape[axis] != target->shape[axis + missing]) return false;
  return true;
}

static bool reduces(const geometry_t *result, const geometry_t *source, int32_t axis) {
  if (result->rank == 1 && result->shape[0] == 1 && source->rank == 1) return true;
  bool kept = result->rank == source->rank;
  if (!kept && result->rank != source->rank - 1) return false;
  for (int32_t place = 0, own = 0; place < source->rank; place++) {
    int64_t wanted = place == axis ? 1 : source->shape[place];
    if (place == axis && !kept) continue;
    if (result->shape[own++] != wanted) return false;
  }
  return true;
}

static void check_extents(run_t *run, const core_t *core, const item_t *item, int32_t number, const places_t *places,
                          double now) {
  const geometry_t *region[MOST_OPERANDS];
  int32_t operand[MOST_OPERANDS], count = 0, wrong = -1;
  for (int32_t place = 0; place < item->alike_count; place++)
    if (places->operand[item->alike[place]]) {
      operand[count] = item->alike[place];
      region[count++] = places->operand[item->alike[place]];
    }
  switch (item->shape_rule) {
  case SHAPES_COPY:
    if (item->fills ? !fits_in(region[1], region[0]) : !same_shape(region[0], region[1])) wrong = 1;
    break;
  case SHAPES_SAME:
    for (int32_t place = count - 1; place > 0; place--)
      if (!same_shape(region[0], region[place])) wrong = place;
    break;
  case SHAPES_BROADCAST:
    for (int32_t place = count - 1; place > 0; place--)
      if (!broadcasts(region[place], region[0])) wrong = place;
    break;
  case SHAPES_MATRIX: {
    const int64_t *sum = region[0]->shape, *lhs = region[1]->shape, *rhs = region[2]->shape;
    if (rhs[0] != lhs[1] || rhs[1] != sum[1]) wrong = 2;
    if (lhs[0] != sum[0]) wrong = 1;
    break;
  }
  case SHAPES_REDUCE:
    for (int32_t place = count - 2; place >= 0; place--)
      if (!reduces(region[place], region[count - 1], item->axis)) wrong = place;
    break;
  default: break;
  }
  if (wrong < 0) return;
  detail(run, operand[0], operand[wrong], 0, 0, 0);
  fail(run, EXTENTS, core->number, number, now);
}

static const storage_t *storage_at(const setup_t *setup, int64_t low, int64_t high) {
  for (int32_t number = 0; number < setup->storages; number++) {
    const storage_t *storage = &setup->storage[number];
    if (storage->address <= low && high <= storage->address + storage->size) return storage;
    if (storage->host && storage->host <= low && high <= storage->host + storage->size) return storage;
  }
  return NULL;
}

/* The first address of a region that its memory cannot be addressed with, or -1. */
static int64_t misaligned(const item_t *item, const geometry_t *region, int64_t alignment) {
  if (alignment == 1 || item->is_scalar_unit) return -1;
  if (region->offset % alignment) return region->offset;
  if (item->is_path)
    for (int32_t axis = 0; axis < region->dimensions; axis++)
      if (region->dimension[axis].stride % alignment) return region->offset + region->dimension[axis].stride;
  return -1;
}

static void check_places(run_t *run, const core_t *core, const item_t *item, int32_t number, const touch_t *touch,
                         int32_t touches, double now) {
  for (int32_t place = 0; place < touches; place++) {
    const geometry_t *region = &touch[place].geometry;
    const space_t *space = &run->setup->space[touch[place].space];
    if (space->owner == 2) {
      const storage_t *storage = storage_at(run->setup, region->offset, region->high);
      if (storage && (storage->writable || !touch[place].writes)) continue;
      detail(run, touch[place].operand, region->offset, region->high, touch[place].writes, 0);
      fail(run, OUTSIDE_GLOBAL, core->number, number, now);
    }
    if (region->offset < 0 || region->high > space->capacity) {
      detail(run, touch[place].operand, region->offset, region->high, 0, 0);
      fail(run, OUTSIDE_SPACE, core->number, number, now);
    }
    int64_t wrong = misaligned(item, region, space->alignment);
    if (wrong >= 0) {
      detail(run, touch[place].operand, wrong, space->alignment, 0, 0);
      fail(run, MISALIGNED, core->number, number, now);
    }
  }
}

/* The core and the engine there of an index among a group's engines. */
static void owner_of(const run_t *run, const core_t *core, int32_t index, int64_t *owner, int64_t *engine) {
  int32_t best = -1;
  for (int32_t number = 0; number < run->setup->cores; number++) {
    const core_setup_t *other = run->core[number].setup;
    if (other->group == core->setup->group && other->first_engine <= index && other->first_engine > best) {
      best = other->first_engine;
      *owner = number;
      *engine = index - best;
    }
  }
}

static void check_order(run_t *run, core_t *core, const item_t *item, int32_t number, const touch_t *touch,
                        int32_t touches, int32_t program, double now) {
  if (!touches) return;
  int32_t engines = run->setup->group_engines, mine = core->setup->first_engine + item->engine;
  int64_t *clock = knowledge(run, core, item->engine);
  int64_t count = ++clock[mine];
  uint64_t hash[MOST_OPERANDS];
  for (int32_t place = 0; place < touches; place++) {
    const watched_t *watched = core->space[touch[place].space];
    hash[place] = hash_of(&touch[place].geometry);
    int32_t other = 0;
    const use_t *race = race_of(watched, engines, mine, &touch[place], program, clock, &other);
    if (race) {
      int64_t owner = 0, engine = 0;
      owner_of(run, core, other, &owner, &engine);
      detail(run, touch[place].operand, owner, engine, race->item, race->writes);
      fail(run, RACE, core->number, number, now);
    }
    int64_t byte = -1;
    if (touch[place].reads) byte = unwritten_byte(watched, engines, &touch[place].geometry, hash[place], program);
    if (byte >= 0) {
      detail(run, touch[place].operand, byte, 0, 0, 0);
      fail(run, UNWRITTEN, core->number, number, now);
    }
  }
  const int64_t *clocks = run->known + (int64_t)core->setup->group * engines * engines;
  for (int32_t place = 0; place < touches; place++) {
    watched_t *watched = core->space[touch[place].space];
    if (touch[place].writes) mark_written(watched, mine, &touch[place].geometry, hash[place], program);
    remember(run, watched, mine, &touch[place], hash[place], number, program, count, clocks);
    int64_t *high = &run->record->high_water[core->setup->image * run->setup->spaces + touch[place].space];
    if (touch[place].geometry.high > *high) *high = touch[place].geometry.high;
  }
}
