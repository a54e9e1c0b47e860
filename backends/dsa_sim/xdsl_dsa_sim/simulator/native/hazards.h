/* Order between engines by vector clocks; the twin of hazards.py. */

#define UNWRITTEN_MARK 0
#define OUTSIDE_PROGRAMS 1
#define FEW_USES 256 /* that many are not worth forgetting */

static uint8_t mark_of(int32_t program) { return program < 0 ? OUTSIDE_PROGRAMS : (uint8_t)(2 + program % 254); }

/* The same for reads and writes; the high bits of the products are mixed into the low ones that are used. */
static uint64_t hash_of(const geometry_t *region) {
  uint64_t hash = (uint64_t)region->offset * 0x9E3779B97F4A7C15u + (uint64_t)region->run;
  for (int32_t axis = 0; axis < region->dimensions; axis++) {
    hash ^= (uint64_t)region->dimension[axis].extent << 32 ^ (uint64_t)region->dimension[axis].stride;
    hash = (hash ^ hash >> 31) * 0xD6E8FEB86659FD93u;
  }
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 32;
}

/* The place of a use with these runs, or the free slot where it would go; `hash` is that of the region. */
static int32_t *slot_of(const log_t *log, const geometry_t *region, int32_t writes, uint64_t hash) {
  for (uint64_t place = hash + (uint64_t)writes;; place++) {
    int32_t *slot = &log->slot[place & (uint64_t)(log->slots - 1)];
    if (*slot < 0) return slot;
    const use_t *use = &log->use[*slot];
    if (use->writes == writes && same_runs(&use->geometry, region)) return slot;
  }
}

static void rehash(run_t *run, log_t *log, int32_t slots) {
  int32_t *made = realloc(log->slot, (size_t)slots * sizeof *made);
  if (!made) fail(run, -2, 0, -1, 0);
  log->slot = made;
  log->slots = slots;
  memset(made, 0xff, (size_t)slots * sizeof *made);
  for (int32_t number = 0; number < log->uses; number++) {
    const use_t *use = &log->use[number];
    *slot_of(log, &use->geometry, use->writes, hash_of(&use->geometry)) = number;
  }
}

static void forget_known(run_t *run, watched_t *watched, log_t *log, int32_t engine, const int64_t *clocks) {
  int64_t known = INT64_MAX, engines = run->setup->group_engines;
  for (int32_t number = 0; number < watched->user_count; number++) {
    int64_t count = clocks[watched->user[number] * engines + engine];
    if (count < known) known = count;
  }
  int32_t kept = 0;
  for (int32_t number = 0; number < log->uses; number++) {
    const use_t *use = &log->use[number];
    if (use->count > known) {
      log->use[kept++] = *use;
      continue;
    }
    log->writes -= use->writes;
    log->held[(uint8_t)use->program]--;
  }
  log->uses = kept;
  log->limit = 2 * kept;
  rehash(run, log, log->slots);
}

/* Keep an access; of equal ones by an engine the last is enough, as an engine works in order. */
static void remember(run_t *run, watched_t *watched, int32_t engine, const touch_t *touch, uint64_t hash, int32_t item,
                     int32_t program, int64_t count, const int64_t *clocks) {
  log_t *log = &watched->log[engine];
  if (!log->slots) rehash(run, log, 64);
  int32_t *slot = slot_of(log, &touch->geometry, touch->writes, hash);
  bool is_new = *slot < 0;
  if (is_new) {
    if (log->uses == log->room) {
      int64_t room = log->room;
      log->use = grow(run, log->use, &room, sizeof *log->use, 32);
      log->room = (int32_t)room;
    }
    *slot = log->uses++;
    log->writes += touch->writes;
  }
  use_t *use = &log->use[*slot];
  if (is_new) {
    use->geometry = touch->geometry;
    use->writes = touch->writes;
  }
  if (log->held) {
    if (!is_new) log->held[(uint8_t)use->program]--;
    log->held[(uint8_t)program]++;
  }
  use->item = item;
  use->program = program;
  use->count = log->latest = count;
  if (2 * log->uses > log->slots) rehash(run, log, 2 * log->slots);
  if (watched->by_program && log->uses > FEW_USES && log->uses > log->limit)
    forget_known(run, watched, log, engine, clocks);
}

/* Whether just this region was written by an engine in this program, so that its bytes have their marks. */
static bool written_by(const log_t *log, const geometry_t *region, uint64_t hash, int32_t program) {
  if (!log->writes) return false;
  int32_t place = *slot_of(log, region, 1, hash);
  return place >= 0 && log->use[place].program == program;
}

/* Whether an address of global memory is in the group's scratch memory, which its programs use one after another. */
static bool is_scratch(const watched_t *watched, int64_t address) {
  return watched->base <= address && address < watched->base + watched->size;
}

/* The earlier use that nothing orders before this one, or NULL; *other is its engine. */
static const use_t *race_of(const watched_t *watched, int32_t engines, int32_t engine, const touch_t *touch,
                            int32_t program, const int64_t *clock, int32_t *other) {
  bool by_program = watched->by_program && !is_scratch(watched, touch->geometry.offset);
  for (int32_t number = 0; number < engines; number++) {
    const log_t *log = &watched->log[number];
    if (number == engine || log->latest <= clock[number] || !(touch->writes || log->writes)) continue;
    if (by_program && !log->held[(uint8_t)program]) continue;
    for (int32_t place = 0; place < log->uses; place++) {
      const use_t *earlier = &log->use[place];
      if (earlier->count <= clock[number] || !(touch->writes || earlier->writes)) continue;
      if (by_program && earlier->program != program) continue;
      if (!overlap(&earlier->geometry, &touch->geometry)) continue;
      *other = number;
      return earlier;
    }
  }
  return NULL;
}

/* The part of a run whose bytes have marks. */
static bool marked_part(const watched_t *watched, int64_t start, int64_t run, int64_t *first, int64_t *last) {
  *first = start > watched->base ? start : watched->base;
  int64_t end = watched->base + watched->size;
  *last = start + run < end ? start + run : end;
  return *first < *last;
}

/* The first byte of a region that neither this program nor code outside of programs wrote, or -1. */
static int64_t unwritten_byte(const watched_t *watched, int32_t engines, const geometry_t *region, uint64_t hash,
                              int32_t program) {
  if (!watched->size || region->high <= watched->base || region->offset >= watched->base + watched->size) return -1;
  for (int32_t engine = 0; engine < engines; engine++)
    if (written_by(&watched->log[engine], region, hash, program)) return -1;
  uint8_t mine = mark_of(program);
  for (walk_t walk = walk_over(region); walk.left; step_on(&walk)) {
    int64_t first, last;
    if (!marked_part(watched, walk.start, region->run, &first, &last)) continue;
    const uint8_t *mark = watched->mark + (first - watched->base);
    size_t count = (size_t)(last - first);
    if ((mark[0] == mine || mark[0] == OUTSIDE_PROGRAMS) && !memcmp(mark, mark + 1, count - 1)) continue;
    for (size_t place = 0; place < count; place++)
      if (mark[place] != mine && mark[place] != OUTSIDE_PROGRAMS) return first + (int64_t)place;
  }
  return -1;
}

static void mark_written(watched_t *watched, int32_t engine, const geometry_t *region, uint64_t hash, int32_t program) {
  if (!watched->size || region->high <= watched->base || region->offset >= watched->base + watched->size) return;
  if (written_by(&watched->log[engine], region, hash, program)) return;
  for (walk_t walk = walk_over(region); walk.left; step_on(&walk)) {
    int64_t first, last;
    if (marked_part(watched, walk.start, region->run, &first, &last))
      memset(watched->mark + (first - watched->base), mark_of(program), (size_t)(last - first));
  }
}
