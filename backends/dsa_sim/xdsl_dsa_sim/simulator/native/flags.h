/* Setting and waiting for flags; the twin of python/flags.py. */

static flag_t *flag_of(run_t *run, int32_t core, int32_t from, int32_t to, int32_t flag) {
  int32_t engines = run->most_engines;
  return &run->flag[(int64_t)core * run->flags_a_core + (from * engines + to) * run->machine->event_flags + flag];
}

/* The flag of a core that another core of its group sets; cores of a group are told apart by their first engine. */
static flag_t *cross_of(run_t *run, const core_t *core, const core_t *setter, int32_t flag) {
  return &run->cross[(int64_t)core->number * run->crosses_a_core +
                     setter->setup->first_engine * run->machine->cross_flags + flag];
}

static bool sends_to(const core_t *core, const core_t *other, int32_t kind) {
  return other != core && other->setup->group == core->setup->group && other->image->kind == kind;
}

static setting_t *new_setting(run_t *run, const core_t *core, const item_t *item, int32_t number, int32_t flag,
                              const int64_t *known) {
  setting_t *made = run->free_setting;
  if (made) {
    run->free_setting = made->next;
  } else {
    made = room_for(run, 1, sizeof *made);
    made->known = room_for(run, (size_t)run->setup->group_engines, sizeof *made->known);
  }
  made->next = NULL;
  made->flag = flag;
  made->core = core->number;
  made->engine = item->engine;
  made->item = number;
  know(run, made->known, known);
  return made;
}

static void put_on_way(run_t *run, setting_t *setting, double time) {
  int64_t number;
  if (run->free_numbers) {
    number = run->free_number[--run->free_numbers];
  } else {
    if (run->settings == run->setting_room) {
      int64_t room = run->setting_room;
      run->setting = grow(run, run->setting, &run->setting_room, sizeof *run->setting, 256);
      run->free_number = grow(run, run->free_number, &room, sizeof *run->free_number, 256);
    }
    number = run->settings++;
  }
  run->setting[number] = setting;
  push(run, time, HAPPEN_FLAG, (uint64_t)number);
}

/* Let the flag of an item be set some cycles after `time`; its setter knew what `known` says. */
static void send(run_t *run, const core_t *core, int32_t number, int32_t flag, const int64_t *known, double time) {
  const item_t *item = &core->image->item[number];
  if (item->action == SET_FLAG) {
    setting_t *made = new_setting(run, core, item, number, flag, known);
    made->crosses = 0;
    made->target = core->number;
    put_on_way(run, made, time + (run->setup->timed ? run->machine->flag : 0.0));
    return;
  }
  for (int32_t other = 0; other < run->setup->cores; other++) {
    if (!sends_to(core, &run->core[other], item->other)) continue;
    setting_t *made = new_setting(run, core, item, number, flag, known);
    made->crosses = 1;
    made->target = other;
    put_on_way(run, made, time + (run->setup->timed ? run->machine->cross_latency : 0.0));
  }
}

static void check_number(run_t *run, const core_t *core, int32_t number, int64_t flag, double now) {
  int32_t action = core->image->item[number].action;
  int64_t count = action == SET_FLAG || action == WAIT_FLAG ? run->machine->event_flags : run->machine->cross_flags;
  if (0 <= flag && flag < count) return;
  detail(run, flag, count, 0, 0, 0);
  fail(run, FLAG_RANGE, core->number, number, now);
}

static void arrive(run_t *run, int64_t number, double now) {
  setting_t *setting = run->setting[number];
  run->free_number[run->free_numbers++] = number;
  core_t *core = &run->core[setting->target], *setter = &run->core[setting->core];
  const item_t *item = &setter->image->item[setting->item];
  int32_t limit = setting->crosses ? run->machine->cross_count : run->machine->event_count;
  flag_t *flag = setting->crosses ? cross_of(run, core, setter, setting->flag)
                                  : flag_of(run, core->number, item->engine, item->other, setting->flag);
  if (flag->count + 1 > limit) {
    detail(run, setting->flag, limit, 0, 0, 0);
    fail(run, FLAG_COUNT, setting->core, setting->item, now);
  }
  if (!flag->set) {
    flag->set = room_for(run, (size_t)limit, sizeof *flag->set);
    for (int32_t place = 0; place < limit; place++)
      flag->set[place].known = room_for(run, (size_t)run->setup->group_engines, sizeof(int64_t));
  }
  set_t *set = &flag->set[(flag->first + flag->count++) % limit];
  know(run, set->known, setting->known);
  set->at = now;
  set->core = setting->core;
  set->engine = setting->engine;
  set->item = setting->item;
  setting->next = run->free_setting;
  run->free_setting = setting;
  for (int32_t engine = 0; engine < core->image->engines; engine++)
    if (core->engine[engine].waiting) wake(run, core, engine, now);
  if (core->waiting) wake_scalar(run, core, now);
}

static void take_one(run_t *run, core_t *core, int32_t engine, flag_t *flag, int32_t limit, double now) {
  const set_t *set = &flag->set[flag->first];
  flag->first = (flag->first + 1) % limit;
  flag->count--;
  learn(run, knowledge(run, core, engine), set->known);
  if (!run->setup->trace) return;
  record_t *record = run->record;
  if (record->arrows == run->arrow_room)
    record->arrow = grow(run, record->arrow, &run->arrow_room, sizeof *record->arrow, 1024);
  record->arrow[record->arrows++] = (arrow_t){set->core, set->engine, core->number, engine, set->at, now};
}

/* Take the flag (of every core that has to set it) if it is set. */
static bool take(run_t *run, core_t *core, int32_t engine, const item_t *item, int32_t flag, double now) {
  if (item->action == WAIT_FLAG) {
    flag_t *wanted = flag_of(run, core->number, item->other, item->engine, flag);
    if (!wanted->count) return false;
    take_one(run, core, engine, wanted, run->machine->event_count, now);
    return true;
  }
  for (int32_t other = 0; other < run->setup->cores; other++)
    if (sends_to(core, &run->core[other], item->other) && !cross_of(run, core, &run->core[other], flag)->count) return false;
  for (int32_t other = 0; other < run->setup->cores; other++)
    if (sends_to(core, &run->core[other], item->other))
      take_one(run, core, engine, cross_of(run, core, &run->core[other], flag), run->machine->cross_count, now);
  return true;
}
