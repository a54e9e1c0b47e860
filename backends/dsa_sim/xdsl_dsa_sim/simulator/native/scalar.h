/* The scalar unit: runs the code of a core; the twin of python/scalar.py. */

static int64_t value_of(const core_t *core, const slot_t *slot) {
  if (slot->reg < 0) return slot->is_float ? as_bits(slot->real) : slot->integer;
  int64_t held = core->registers[slot->reg];
  if (!slot->is_float) return held + slot->integer;
  return as_bits(as_double(held) + (double)slot->integer);
}

static bool inside(const core_t *core, const step_t *step) {
  int64_t current = core->registers[step->reg], bound = core->registers[step->hidden];
  return core->registers[step->hidden + 1] < 0 ? current > bound : current < bound;
}

static int32_t jump(core_t *core, const step_t *step) {
  int64_t *registers = core->registers;
  switch (step->code) {
  case CODE_JUMP: return step->target;
  case CODE_BRANCH_ZERO: return registers[step->reg] ? core->step + 1 : step->target;
  case CODE_LOOP: {
    const slot_t *slot = &core->image->slot[step->first_slot];
    int64_t lower = value_of(core, slot), upper = value_of(core, slot + 1), stride = value_of(core, slot + 2);
    registers[step->hidden] = upper;
    registers[step->hidden + 1] = stride;
    registers[step->reg] = lower;
    return inside(core, step) ? core->step + 1 : step->target;
  }
  default:
    registers[step->reg] += registers[step->hidden + 1];
    return inside(core, step) ? step->target : core->step + 1;
  }
}

static void learn_all(run_t *run, core_t *core) {
  for (int32_t number = 0; number < core->image->engines; number++)
    learn(run, knowledge(run, core, core->image->scalar_engine), knowledge(run, core, number));
}

static bool in_scope(const core_t *core, const core_t *other, int32_t scope) {
  return !other->ended && (scope == 2 || other->setup->group == core->setup->group);
}

/* Let cores go on that stand at a barrier which all others of its scope have reached or that have ended. */
static void release_cores(run_t *run, double now) {
  for (int32_t scope = 1; scope <= 2; scope++)
    for (int32_t number = 0; number < run->setup->cores; number++) {
      core_t *first = &run->core[number];
      bool all = !first->ended && first->at_barrier == scope;
      for (int32_t other = 0; other < run->setup->cores && all; other++)
        if (in_scope(first, &run->core[other], scope)) all = run->core[other].at_barrier == scope;
      if (!all) continue;
      for (int32_t a = 0; a < run->setup->cores; a++)
        for (int32_t b = 0; b < run->setup->cores; b++) {
          core_t *one = &run->core[a], *two = &run->core[b];
          if (in_scope(first, one, scope) && in_scope(first, two, scope) && one->setup->group == two->setup->group)
            learn(run, knowledge(run, one, one->image->scalar_engine), knowledge(run, two, two->image->scalar_engine));
        }
      for (int32_t other = 0; other < run->setup->cores; other++) {
        core_t *core = &run->core[other];
        if (!in_scope(first, core, scope)) continue;
        core->at_barrier = 0;
        core->passed_barrier = 1;
        wake_scalar(run, core, now);
      }
    }
}

static bool barrier_cores(run_t *run, core_t *core, const item_t *item) {
  if (core->passed_barrier) {
    core->passed_barrier = 0;
    return true;
  }
  core->draining = !idle(core);
  if (!core->draining) {
    learn_all(run, core);
    core->at_barrier = item->scope;
    release_cores(run, core->clock);
  }
  return false;
}

static void use_memory(run_t *run, core_t *core, const item_t *item, int32_t number, const int64_t *value) {
  places_t places;
  touch_t touch[MOST_OPERANDS];
  places_of(core->image, item, value, &places);
  int32_t touches = touches_of(core->image, item, &places, value, touch);
  check_places(run, core, item, number, touch, touches, core->clock);
  check_order(run, core, item, number, touch, touches, core->program, core->clock);
  if (!run->setup->functional && !(item->action == LOAD && item->traffic)) return;
  int64_t result = 0;
  call(run, core, number, value, core->program, &result, core->clock);
  if (item->action == LOAD) core->registers[item->reg] = result;
}

static bool scalar_wait(run_t *run, core_t *core, const item_t *item, int32_t number, int64_t flag) {
  check_number(run, core, number, flag, core->clock);
  if (!take(run, core, core->image->scalar_engine, item, (int32_t)flag, core->clock)) {
    if (!core->waiting) {
      core->waiting = 1;
      core->blocked_since = core->clock;
    }
    return false;
  }
  if (core->waiting) {
    core->waiting = 0;
    *wait_of(run, core, core->image->scalar_engine, item->action == WAIT_FLAG ? item->other : -1) +=
        core->clock - core->blocked_since;
  }
  return true;
}

/* What the scalar unit does itself; false if it has to wait. */
static bool do_item(run_t *run, core_t *core, const item_t *item, int32_t number, const int64_t *value) {
  switch (item->action) {
  case REGISTER:
    if (!computed(item, value, &core->registers[item->reg]))
      call(run, core, number, value, core->program, &core->registers[item->reg], core->clock);
    return true;
  case PROGRAM: core->program = (int32_t)value[0]; return true;
  case LOAD:
  case STORE:
  case EFFECT: use_memory(run, core, item, number, value); return true;
  case SET_FLAG:
  case SET_CROSS: {
    int64_t flag = value[item->slots - 1];
    check_number(run, core, number, flag, core->clock);
    send(run, core, number, (int32_t)flag, knowledge(run, core, core->image->scalar_engine), core->clock);
    return true;
  }
  case WAIT_FLAG:
  case WAIT_CROSS: return scalar_wait(run, core, item, number, value[item->slots - 1]);
  case BARRIER:
    core->draining = !idle(core);
    if (!core->draining) learn_all(run, core);
    return !core->draining;
  case BARRIER_CORES: return barrier_cores(run, core, item);
  default: return true;
  }
}

static void account(run_t *run, core_t *core, const item_t *item, int32_t number, double cycles) {
  engine_totals_t *totals = totals_of(run, core, core->image->scalar_engine);
  totals->busy += cycles;
  totals->count++;
  if (totals->first < 0) totals->first = core->clock;
  totals->last = core->clock + cycles;
  item_totals_t *by_item = &run->record->item[core->setup->image][number];
  by_item->count++;
  by_item->busy += cycles;
  if (!run->setup->trace || item->action == REGISTER || item->action == PROGRAM) return;
  double end = core->clock + cycles;
  note_event(run, (event_t){core->number, core->image->scalar_engine, number, core->program, core->clock, end, end});
}

static bool enqueue(run_t *run, core_t *core, const item_t *item, int32_t number) {
  engine_t *engine = &core->engine[item->engine];
  int32_t depth = run->machine->queue_depth;
  if (engine->queued >= depth) {
    core->full_queue = item->engine;
    return false;
  }
  if (run->setup->timed) core->clock += run->machine->issue;
  pending_t *made = &engine->queue[(engine->head + engine->queued++) % depth];
  for (int32_t slot = 0; slot < item->slots; slot++)
    made->value[slot] = value_of(core, &core->image->slot[item->first_slot + slot]);
  made->item = item;
  made->number = number;
  made->program = core->program;
  made->available = core->clock;
  know(run, made->known, knowledge(run, core, core->image->scalar_engine));
  if (engine->queued == 1 && !engine->has_flow) wake(run, core, item->engine, larger(core->clock, engine->free_at));
  return true;
}

static bool alone(const item_t *item) {
  return item->action == REGISTER || item->action == WORK || item->action == PROGRAM || item->action == SET_FLAG ||
         item->action == SET_CROSS;
}

static bool run_item(run_t *run, core_t *core, int32_t number, double now) {
  const item_t *item = &core->image->item[number];
  if (item->engine != core->image->scalar_engine) return enqueue(run, core, item, number);
  if (!alone(item) && core->clock > now) {
    wake_scalar(run, core, core->clock);
    return false;
  }
  int64_t value[run->most_slots];
  for (int32_t slot = 0; slot < item->slots; slot++)
    value[slot] = value_of(core, &core->image->slot[item->first_slot + slot]);
  if (!do_item(run, core, item, number, value)) return false;
  double cycles = 0.0;
  if (run->setup->timed) cycles = cost_of(item, NULL, NULL, 0, NULL, value, run->machine).busy;
  account(run, core, item, number, cycles);
  core->clock += cycles;
  return true;
}

static void run_scalar(run_t *run, core_t *core, double now) {
  core->clock = larger(core->clock, now);
  double branch = run->setup->timed ? run->machine->branch : 0.0;
  while (!core->ended) {
    if (run->setup->max_steps && ++run->steps > run->setup->max_steps) fail(run, LIMIT, core->number, -1, core->clock);
    const step_t *step = &core->image->step[core->step];
    if (step->code == CODE_ITEM) {
      if (!run_item(run, core, step->item, now)) return;
      core->step++;
    } else if (step->code == CODE_END) {
      core->ended = 1;
      run->record->core_cycles[core->number] = core->clock;
      release_cores(run, core->clock);
    } else {
      core->step = jump(core, step);
      core->clock += branch;
    }
  }
}
