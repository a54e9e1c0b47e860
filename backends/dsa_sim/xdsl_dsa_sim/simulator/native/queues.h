/* Engines: the head of a queue begins, ends, and lets others go on; the twin of python/queues.py. */

static flight_t *flight_at(const engine_t *engine, int32_t place) {
  return &engine->flight[(engine->oldest + place) % engine->room];
}

static flight_t *new_flight(run_t *run, engine_t *engine) {
  if (engine->flights == engine->room) {
    int32_t room = engine->room ? 2 * engine->room : 8;
    flight_t *made = calloc((size_t)room, sizeof *made);
    if (!made) fail(run, -2, 0, -1, 0);
    for (int32_t place = 0; place < engine->flights; place++) made[place] = *flight_at(engine, place);
    for (int32_t place = engine->flights; place < room; place++)
      made[place].pending.value = room_for(run, (size_t)run->most_slots, sizeof(int64_t));
    free(engine->flight);
    engine->flight = made;
    engine->room = room;
    engine->oldest = 0;
  }
  return flight_at(engine, engine->flights++);
}

static bool idle(const core_t *core) {
  for (int32_t number = 0; number < core->image->engines; number++) {
    const engine_t *engine = &core->engine[number];
    if (engine->queued || engine->flights || engine->has_flow) return false;
  }
  return true;
}

static void notice_idle(run_t *run, core_t *core, double now) {
  if (core->draining && idle(core)) wake_scalar(run, core, now);
}

static void hold(engine_t *engine, double now) {
  if (engine->held) return;
  engine->held = 1;
  engine->blocked_since = now;
}

static void let_go(run_t *run, core_t *core, int32_t number, double now) {
  engine_t *engine = &core->engine[number];
  if (!engine->held) return;
  engine->held = 0;
  totals_of(run, core, number)->held += now - engine->blocked_since;
}

static void finish_at(run_t *run, core_t *core, int32_t number, flight_t *flight, double free_at, double tail) {
  engine_t *engine = &core->engine[number];
  engine->free_at = flight->free_at = free_at;
  engine->stalled = 0;
  double begun = larger(flight->start, engine->last_end);
  engine->last_end = larger(free_at + tail, engine->last_end);
  engine_totals_t *totals = totals_of(run, core, number);
  totals->busy += engine->last_end - begun;
  totals->count++;
  if (totals->first < 0) totals->first = flight->start;
  totals->last = engine->last_end;
  item_totals_t *by_item = &run->record->item[core->setup->image][flight->pending.number];
  by_item->count++;
  by_item->busy += free_at - flight->start;
  push(run, engine->last_end, HAPPEN_COMPLETE, (uint64_t)(core->number * run->setup->stride + number));
}

static void transfer(run_t *run, core_t *core, int32_t number, flight_t *flight, const cost_t *cost,
                     const places_t *places, double now) {
  const item_t *item = flight->pending.item;
  const machine_t *machine = run->machine;
  bool writes = item->traffic == TRAFFIC_WRITE;
  access_t access = {0, 0, 0, 0, false};
  if (cost->indirect || item->rule == RULE_INDIRECT) {
    access.moved = cost->indirect * machine->segment;
    if (!machine->l2_lines) *(writes ? &access.written : &access.read) = access.moved;
  } else {
    const geometry_t *outside = places->operand[writes ? 0 : 1];
    access = transfer_of(run, outside, writes, item->bypass, core->number, now);
    run->record->item[core->setup->image][flight->pending.number].bytes += outside->elements * outside->itemsize;
  }
  run->record->dram_read += access.read;
  run->record->dram_written += access.written;
  run->record->l2_moved += access.moved;
  engine_t *engine = &core->engine[number];
  double moved = (double)access.moved;
  double least = larger(cost->floor, moved * cost->per_byte);
  double latency = item->latency + (access.missed ? machine->miss_latency : 0.0);
  if (!access.moved || least <= 0.0) {
    finish_at(run, core, number, flight, now + least, latency);
    wake(run, core, number, engine->free_at);
    return;
  }
  flow_t *flow = add_flow(run, now);
  for (int32_t pool = 0; pool < run->pools; pool++) flow->use[pool] = 0.0;
  flow->use[0] = (double)(access.read + access.written) / moved;
  flow->use[1] = (double)access.read / moved;
  flow->use[DRAM_POOLS + core->setup->image] = (moved + (double)access.shared * (core->image->shared_weight - 1.0)) / moved;
  flow->owner = core->number * run->setup->stride + number;
  flow->remaining = moved;
  flow->limit = moved / least;
  flow->latency = latency;
  engine->has_flow = 1;
  share(run);
  watch_pools(run);
}

static void end_flow(run_t *run, uint64_t version, double now) {
  double time = 0.0;
  int32_t first = first_to_end(run, &time);
  if (version != run->pools_version || first < 0) return;
  int32_t owner = run->flow[first].owner;
  double latency = run->flow[first].latency;
  remove_flow(run, first, now);
  core_t *core = &run->core[owner / run->setup->stride];
  int32_t number = owner % run->setup->stride;
  engine_t *engine = &core->engine[number];
  engine->has_flow = 0;
  finish_at(run, core, number, flight_at(engine, engine->flights - 1), now, latency);
  wake(run, core, number, now);
  watch_pools(run);
}

/* Whether an instruction reads what one under way writes; those that only write end in order anyway. */
static bool needs(const flight_t *flight, const touch_t *touch, int32_t touches) {
  for (int32_t a = 0; a < touches; a++)
    for (int32_t b = 0; b < flight->touches; b++) {
      const touch_t *other = &flight->touch[b];
      if (touch[a].space == other->space && touch[a].reads && other->writes &&
          overlap(&touch[a].geometry, &other->geometry))
        return true;
    }
  return false;
}

static int64_t work_of(const item_t *item, const places_t *places) {
  const geometry_t *first = places->region[0];
  if (item->starts_sum)
    return first->shape[first->rank - 2] * first->shape[first->rank - 1] * places->region[1]->shape[places->region[1]->rank - 1];
  const geometry_t *lanes = item->shape_rule == SHAPES_REDUCE ? places->region[places->regions - 1] : first;
  int64_t work = 1;
  for (int32_t axis = 0; axis < lanes->rank; axis++) work *= lanes->shape[axis];
  return work;
}

static bool start(run_t *run, core_t *core, int32_t number, const pending_t *head, double now) {
  engine_t *engine = &core->engine[number];
  const item_t *item = head->item;
  places_t places;
  touch_t touch[MOST_OPERANDS];
  places_of(core->image, item, head->value, &places);
  int32_t touches = touches_of(core->image, item, &places, head->value, touch);
  check_extents(run, core, item, head->number, &places, now);
  check_places(run, core, item, head->number, touch, touches, now);
  for (int32_t place = 0; place < engine->flights; place++)
    if (needs(flight_at(engine, place), touch, touches)) {
      hold(engine, now);
      return false;
    }
  let_go(run, core, number, now);
  check_order(run, core, item, head->number, touch, touches, head->program, now);
  cost_t cost = {0.0, 0.0, false, 0.0, 0.0, 0};
  if (run->setup->timed)
    cost = cost_of(item, places.operand, places.region, places.regions, places.offsets, head->value, run->machine);
  flight_t *flight = new_flight(run, engine);
  int64_t *value = flight->pending.value;
  memcpy(value, head->value, (size_t)item->slots * sizeof *value);
  flight->pending = *head;
  flight->pending.value = value;
  flight->touches = touches;
  memcpy(flight->touch, touch, (size_t)touches * sizeof *touch);
  flight->start = now;
  flight->settings = flight->last_setting = NULL;
  if (cost.has_traffic) {
    transfer(run, core, number, flight, &cost, &places, now);
    return true;
  }
  double busy = cost.busy;
  if (item->starts_sum && run->setup->timed)
    busy += engine->stalled ? larger(run->machine->head_isolated, item->startup) : item->startup;
  item_totals_t *totals = &run->record->item[core->setup->image][head->number];
  if (item->is_path && places.operand[1]) totals->bytes += places.operand[1]->elements * places.operand[1]->itemsize;
  if (!item->is_path && places.regions) totals->work += work_of(item, &places);
  finish_at(run, core, number, flight, now + busy, cost.tail);
  wake(run, core, number, engine->free_at);
  return true;
}

static bool wait_for_flag(run_t *run, core_t *core, int32_t number, const pending_t *head, double now) {
  engine_t *engine = &core->engine[number];
  const item_t *item = head->item;
  int64_t flag = head->value[item->slots - 1];
  check_number(run, core, head->number, flag, now);
  if (!take(run, core, number, item, (int32_t)flag, now)) {
    if (!engine->waiting) {
      engine->waiting = 1;
      engine->blocked_since = now;
    }
    return false;
  }
  if (engine->waiting) {
    engine->waiting = 0;
    *wait_of(run, core, number, item->action == WAIT_FLAG ? item->other : -1) += now - engine->blocked_since;
  }
  engine->free_at = now + (run->setup->timed ? run->machine->flag : 0.0);
  totals_of(run, core, number)->count++;
  return true;
}

static void set_when_done(run_t *run, core_t *core, int32_t number, const pending_t *head, double now) {
  engine_t *engine = &core->engine[number];
  int64_t flag = head->value[head->item->slots - 1];
  const int64_t *known = knowledge(run, core, number);
  check_number(run, core, head->number, flag, now);
  if (!engine->flights) {
    send(run, core, head->number, (int32_t)flag, known, now);
    return;
  }
  flight_t *flight = flight_at(engine, engine->flights - 1);
  setting_t *made = new_setting(run, core, head->item, head->number, (int32_t)flag, known);
  if (flight->last_setting) flight->last_setting->next = made; else flight->settings = made;
  flight->last_setting = made;
}

/* Begin an instruction; false if it has to wait. */
static bool begin(run_t *run, core_t *core, int32_t number, const pending_t *head, double now) {
  engine_t *engine = &core->engine[number];
  if (now > engine->free_at) engine->stalled = 1;
  learn(run, knowledge(run, core, number), head->known);
  switch (head->item->action) {
  case COMPUTE: return start(run, core, number, head, now);
  case WAIT_FLAG:
  case WAIT_CROSS: return wait_for_flag(run, core, number, head, now);
  case SET_FLAG:
  case SET_CROSS: set_when_done(run, core, number, head, now); break;
  default:
    if (engine->flights) {
      hold(engine, now);
      return false;
    }
    let_go(run, core, number, now);
  }
  engine->free_at = now + (run->setup->timed ? run->machine->flag : 0.0);
  totals_of(run, core, number)->count++;
  return true;
}

static void advance(run_t *run, core_t *core, int32_t number, double now) {
  engine_t *engine = &core->engine[number];
  while (engine->queued && !engine->has_flow) {
    const pending_t *head = &engine->queue[engine->head];
    double ready = larger(head->available, engine->free_at);
    if (ready > now) {
      wake(run, core, number, ready);
      return;
    }
    if (!begin(run, core, number, head, now)) return;
    engine->head = (engine->head + 1) % run->machine->queue_depth;
    engine->queued--;
    if (core->full_queue == number) {
      core->full_queue = -1;
      wake_scalar(run, core, now);
    }
  }
  notice_idle(run, core, now);
}

static void call(run_t *run, const core_t *core, int32_t item, const int64_t *value, int32_t program, int64_t *result,
                 double now) {
  if (run->execute(core->number, item, value, program, result)) fail(run, -1, core->number, item, now);
}

static void note_event(run_t *run, event_t event) {
  record_t *record = run->record;
  if (record->events == run->event_room)
    record->event = grow(run, record->event, &run->event_room, sizeof *record->event, 4096);
  record->event[record->events++] = event;
}

static void complete(run_t *run, core_t *core, int32_t number, double now) {
  engine_t *engine = &core->engine[number];
  flight_t *flight = flight_at(engine, 0);
  const pending_t *head = &flight->pending;
  engine->oldest = (engine->oldest + 1) % engine->room;
  engine->flights--;
  int64_t unused = 0;
  if (run->setup->functional) call(run, core, head->number, head->value, head->program, &unused, now);
  if (run->setup->trace)
    note_event(run, (event_t){core->number, number, head->number, head->program, flight->start, flight->free_at, now});
  for (setting_t *setting = flight->settings, *next; setting; setting = next) {
    next = setting->next;
    send(run, core, setting->item, setting->flag, setting->known, now);
    setting->next = run->free_setting;
    run->free_setting = setting;
  }
  if (engine->held) wake(run, core, number, now);
  notice_idle(run, core, now);
}
