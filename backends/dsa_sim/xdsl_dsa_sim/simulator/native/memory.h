/* The L2 and the bandwidth that cores share; the twin of l2.py and sharing.py. */

#define SHARED_WINDOW 1000.0

typedef struct {
  int64_t moved, shared, read, written;
  bool missed;
} access_t;

static void start_l2(run_t *run) {
  l2_t *l2 = &run->l2;
  int64_t lines = run->machine->l2_lines;
  l2->newest = l2->oldest = l2->spare = -1;
  if (!lines) return;
  for (l2->buckets = 1024; l2->buckets < 2 * lines; l2->buckets *= 2) {
  }
  l2->line = room_for(run, (size_t)lines + 1, sizeof *l2->line);
  l2->bucket = room_for(run, (size_t)l2->buckets, sizeof *l2->bucket);
  memset(l2->bucket, 0xff, (size_t)l2->buckets * sizeof *l2->bucket);
}

static int32_t *bucket_of(l2_t *l2, int64_t number) {
  uint64_t mixed = (uint64_t)number * 0x9E3779B97F4A7C15u;
  return &l2->bucket[(mixed >> 32) & (uint64_t)(l2->buckets - 1)];
}

static void unlink_line(l2_t *l2, int32_t place) {
  line_t *line = &l2->line[place];
  if (line->before >= 0) l2->line[line->before].after = line->after; else l2->oldest = line->after;
  if (line->after >= 0) l2->line[line->after].before = line->before; else l2->newest = line->before;
}

static void link_newest(l2_t *l2, int32_t place) {
  line_t *line = &l2->line[place];
  line->after = -1;
  line->before = l2->newest;
  if (l2->newest >= 0) l2->line[l2->newest].after = place; else l2->oldest = place;
  l2->newest = place;
}

static bool evict_oldest(l2_t *l2) {
  int32_t place = l2->oldest;
  line_t *line = &l2->line[place];
  int32_t *link = bucket_of(l2, line->number);
  while (*link != place) link = &l2->line[*link].chained;
  *link = line->chained;
  unlink_line(l2, place);
  l2->spare = place;
  return line->dirty;
}

/* Use a line: whether it was there; whether another core just used it, bytes written back to make room. */
static bool touch_line(run_t *run, int64_t number, bool write, bool passes_by, int32_t core, double time, bool *together,
                       int64_t *evicted) {
  l2_t *l2 = &run->l2;
  int32_t *bucket = bucket_of(l2, number);
  *together = false;
  *evicted = 0;
  for (int32_t place = *bucket; place >= 0; place = l2->line[place].chained) {
    line_t *line = &l2->line[place];
    if (line->number != number) continue;
    *together = line->core != core && time - line->time < SHARED_WINDOW;
    line->dirty |= write;
    line->core = core;
    line->time = time;
    if (l2->newest != place) {
      unlink_line(l2, place);
      link_newest(l2, place);
    }
    return true;
  }
  if (passes_by) return false;
  if (l2->lines == run->machine->l2_lines) {
    if (evict_oldest(l2)) *evicted = run->machine->line;
    bucket = bucket_of(l2, number);
  } else {
    l2->spare = l2->lines++;
  }
  line_t *line = &l2->line[l2->spare];
  line->number = number;
  line->dirty = write;
  line->core = core;
  line->time = time;
  line->chained = *bucket;
  *bucket = l2->spare;
  link_newest(l2, l2->spare);
  return false;
}

static void move_piece(run_t *run, int64_t start, int64_t size, bool whole, bool write, bool bypass, int32_t core,
                       double time, access_t *access) {
  const machine_t *machine = run->machine;
  access->moved += size;
  if (!machine->l2_lines) {
    if (write) access->written += size; else access->read += size;
    return;
  }
  bool passes_by = bypass || !(whole || write);
  for (int64_t line = start / machine->line, last = (start + size - 1) / machine->line; line <= last; line++) {
    bool together;
    int64_t evicted;
    bool hit = touch_line(run, line, write, passes_by, core, time, &together, &evicted);
    if (together) access->shared += size;
    access->missed = access->missed || !hit;
    if (!hit && !write) access->read += machine->line;
    access->written += evicted + (write && bypass && !hit ? size : 0);
  }
}

static access_t transfer_of(run_t *run, const geometry_t *region, bool write, bool bypass, int32_t core, double time) {
  const machine_t *machine = run->machine;
  access_t access = {0, 0, 0, 0, false};
  for (walk_t walk = walk_over(region); walk.left; step_on(&walk)) {
    int64_t start = walk.start, end = walk.start + region->run;
    for (int64_t border = (start / machine->segment + 1) * machine->segment; start < end; border += machine->segment) {
      int64_t size = (border < end ? border : end) - start;
      if (run->l2.bucket) __builtin_prefetch(bucket_of(&run->l2, border / machine->line));
      if (start % machine->request || size % machine->request)
        move_piece(run, border - machine->segment, machine->segment, false, write, bypass, core, time, &access);
      else
        move_piece(run, start, size, true, write, bypass, core, time, &access);
      start += size;
    }
  }
  return access;
}

static void advance_flows(run_t *run, double time) {
  double elapsed = time - run->pools_time;
  for (int32_t number = 0; number < run->flows; number++) {
    flow_t *flow = &run->flow[number];
    flow->remaining = larger(0.0, flow->remaining - flow->rate * elapsed);
  }
  run->pools_time = time;
}

/* Max-min fair rates by progressive filling. */
static void fill_flows(run_t *run) {
  int32_t pools = run->pools, growing = run->flows;
  flow_t **member = run->spare_flow;
  double left[pools], slope[pools], level = 0.0;
  for (int32_t pool = 0; pool < pools; pool++) left[pool] = run->capacity[pool];
  for (int32_t number = 0; number < growing; number++) member[number] = &run->flow[number];
  while (growing) {
    double rise = member[0]->limit;
    for (int32_t number = 1; number < growing; number++)
      if (member[number]->limit < rise) rise = member[number]->limit;
    rise -= level;
    for (int32_t pool = 0; pool < pools; pool++) {
      slope[pool] = 0.0;
      for (int32_t number = 0; number < growing; number++) slope[pool] += member[number]->use[pool];
      if (slope[pool] > 0.0 && left[pool] < rise * slope[pool]) rise = larger(left[pool], 0.0) / slope[pool];
    }
    level += rise;
    bool full[pools];
    for (int32_t pool = 0; pool < pools; pool++) {
      left[pool] = left[pool] - rise * slope[pool];
      full[pool] = slope[pool] > 0.0 && left[pool] <= 1e-9 * run->capacity[pool];
    }
    int32_t still = 0;
    for (int32_t number = 0; number < growing; number++) {
      flow_t *flow = member[number];
      flow->rate = level;
      bool stuck = flow->limit <= level;
      for (int32_t pool = 0; pool < pools; pool++) stuck = stuck || (full[pool] && flow->use[pool] > 0.0);
      if (!stuck) member[still++] = flow;
    }
    if (still == growing) break;
    growing = still;
  }
}

static void share(run_t *run) {
  run->pools_version++;
  bool fits = true;
  for (int32_t pool = 0; pool < run->pools && fits; pool++) {
    double wanted = 0.0;
    for (int32_t number = 0; number < run->flows; number++) wanted += run->flow[number].limit * run->flow[number].use[pool];
    fits = wanted <= run->capacity[pool];
  }
  if (!fits) {
    fill_flows(run);
    return;
  }
  for (int32_t number = 0; number < run->flows; number++) run->flow[number].rate = run->flow[number].limit;
}

/* The flow that ends first if nothing changes, and when; -1 without flows. */
static int32_t first_to_end(const run_t *run, double *time) {
  int32_t best = -1;
  for (int32_t number = 0; number < run->flows; number++) {
    const flow_t *flow = &run->flow[number];
    double end = run->pools_time + (flow->remaining > 0 ? flow->remaining / flow->rate : 0.0);
    if (best < 0 || end < *time) {
      best = number;
      *time = end;
    }
  }
  return best;
}

static void watch_pools(run_t *run) {
  double time;
  if (first_to_end(run, &time) >= 0) push(run, time, HAPPEN_POOL, run->pools_version);
}

static flow_t *add_flow(run_t *run, double time) {
  advance_flows(run, time);
  return &run->flow[run->flows++];
}

static void remove_flow(run_t *run, int32_t number, double time) {
  advance_flows(run, time);
  double *use = run->flow[number].use;
  memmove(&run->flow[number], &run->flow[number + 1], (size_t)(run->flows - number - 1) * sizeof *run->flow);
  run->flow[--run->flows].use = use;
  share(run);
}
