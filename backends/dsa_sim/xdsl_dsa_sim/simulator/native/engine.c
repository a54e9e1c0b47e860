/* The event engine: the same steps in the same order as the Python one in ../python, for speed. */

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "state.h"
#include "geometry.h"
#include "costs.h"
#include "memory.h"
#include "hazards.h"
#include "access.h"
#include "flags.h"
#include "queues.h"
#include "arithmetic.h"
#include "scalar.h"

static watched_t *new_watched(run_t *run, int64_t size, int64_t base) {
  watched_t *made = &run->watched[run->watched_count++];
  made->mark = room_for(run, (size_t)size, 1);
  made->size = size;
  made->base = base;
  made->log = room_for(run, (size_t)run->setup->group_engines, sizeof *made->log);
  return made;
}

/* Global memory as a group sees it, with the engines of the group whose code uses it. */
static watched_t *new_global(run_t *run, int32_t group, int32_t space) {
  const setup_t *setup = run->setup;
  watched_t *made = new_watched(run, setup->workspace_bytes, setup->workspace + group * setup->workspace_bytes);
  made->by_program = 1;
  for (int32_t number = 0; number < setup->group_engines; number++)
    made->log[number].held = room_for(run, 256, sizeof(int32_t));
  made->user = room_for(run, (size_t)setup->group_engines, sizeof *made->user);
  for (int32_t number = 0; number < setup->cores; number++) {
    const core_t *core = &run->core[number];
    if (core->setup->group != group) continue;
    for (int32_t engine = 0; engine < core->image->engines; engine++) {
      bool uses = false;
      for (int32_t place = 0; place < core->image->items && !uses; place++) {
        const item_t *item = &core->image->item[place];
        for (int32_t operand = 0; operand < item->operands && item->engine == engine; operand++) {
          const operand_t *found = &core->image->operand[item->first_operand + operand];
          uses = uses || (found->kind == 1 && found->space == space);
        }
      }
      if (uses) made->user[made->user_count++] = core->setup->first_engine + engine;
    }
  }
  return made;
}

static void start_memories(run_t *run, core_t *core) {
  const setup_t *setup = run->setup;
  core->space = room_for(run, (size_t)setup->spaces, sizeof *core->space);
  for (int32_t index = 0; index < setup->spaces; index++) {
    const space_t *space = &setup->space[index];
    if (space->owner == 0) {
      if (space->core < 0 || space->core == core->image->kind) core->space[index] = new_watched(run, space->capacity, 0);
      continue;
    }
    for (int32_t other = 0; other < core->number && !core->space[index]; other++)
      if (run->core[other].setup->group == core->setup->group) core->space[index] = run->core[other].space[index];
    if (core->space[index]) continue;
    core->space[index] = space->owner == 2 ? new_global(run, core->setup->group, index) : new_watched(run, space->capacity, 0);
  }
}

static void start_core(run_t *run, int32_t number) {
  const setup_t *setup = run->setup;
  core_t *core = &run->core[number];
  core->setup = &setup->core[number];
  core->image = &setup->image[core->setup->image];
  core->number = number;
  core->program = -1;
  core->full_queue = -1;
  core->wake_at = NEVER;
  core->registers = room_for(run, (size_t)core->image->registers, sizeof *core->registers);
  memcpy(core->registers, setup->registers + core->setup->first_register,
         (size_t)core->image->registers * sizeof *core->registers);
  core->engine = room_for(run, (size_t)core->image->engines, sizeof *core->engine);
  int32_t depth = run->machine->queue_depth;
  for (int32_t place = 0; place < core->image->engines; place++) {
    engine_t *engine = &core->engine[place];
    engine->wake_at = NEVER;
    engine->stalled = 1;
    engine->queue = room_for(run, (size_t)depth, sizeof *engine->queue);
    int64_t *values = room_for(run, (size_t)(depth * run->most_slots), sizeof *values);
    int64_t *known = room_for(run, (size_t)(depth * setup->group_engines), sizeof *known);
    for (int32_t slot = 0; slot < depth; slot++) {
      engine->queue[slot].value = values + (int64_t)slot * run->most_slots;
      engine->queue[slot].known = known + (int64_t)slot * setup->group_engines;
    }
  }
}

static void start_run(run_t *run) {
  const setup_t *setup = run->setup;
  run->most_slots = 1;
  for (int32_t image = 0; image < setup->images; image++) {
    const core_image_t *found = &setup->image[image];
    if (found->engines > run->most_engines) run->most_engines = found->engines;
    for (int32_t item = 0; item < found->items; item++)
      if (found->item[item].slots > run->most_slots) run->most_slots = found->item[item].slots;
  }
  run->flags_a_core = run->most_engines * run->most_engines * run->machine->event_flags;
  run->crosses_a_core = setup->group_engines * run->machine->cross_flags;
  run->flag = room_for(run, (size_t)setup->cores * (size_t)run->flags_a_core, sizeof *run->flag);
  run->cross = room_for(run, (size_t)setup->cores * (size_t)run->crosses_a_core, sizeof *run->cross);
  size_t clocks = (size_t)setup->groups * (size_t)setup->group_engines * (size_t)setup->group_engines;
  run->known = room_for(run, clocks, sizeof *run->known);
  run->watched = room_for(run, (size_t)setup->cores * (size_t)setup->spaces, sizeof *run->watched);
  run->core = room_for(run, (size_t)setup->cores, sizeof *run->core);
  for (int32_t number = 0; number < setup->cores; number++) start_core(run, number);
  for (int32_t number = 0; number < setup->cores; number++) start_memories(run, &run->core[number]);
  start_l2(run);
  size_t flows = (size_t)setup->cores * (size_t)setup->stride;
  run->pools = DRAM_POOLS + setup->images;
  run->flow = room_for(run, flows + 1, sizeof *run->flow);
  run->spare_flow = room_for(run, flows + 1, sizeof *run->spare_flow);
  for (size_t number = 0; number <= flows; number++)
    run->flow[number].use = room_for(run, (size_t)run->pools, sizeof(double));
  run->capacity = room_for(run, (size_t)run->pools, sizeof *run->capacity);
  run->capacity[0] = run->machine->dram_capacity;
  run->capacity[1] = run->machine->dram_read_capacity;
  for (int32_t image = 0; image < setup->images; image++)
    run->capacity[DRAM_POOLS + image] = setup->image[image].l2_capacity;
}

static void happen(run_t *run, const happening_t *event) {
  int32_t stride = run->setup->stride, subject = (int32_t)event->subject;
  switch (event->happening) {
  case HAPPEN_SCALAR: {
    core_t *core = &run->core[subject];
    if (core->wake_at != event->time) return;
    core->wake_at = NEVER;
    run_scalar(run, core, event->time);
    return;
  }
  case HAPPEN_ENGINE: {
    core_t *core = &run->core[subject / stride];
    engine_t *engine = &core->engine[subject % stride];
    if (engine->wake_at != event->time) return;
    engine->wake_at = NEVER;
    advance(run, core, subject % stride, event->time);
    return;
  }
  case HAPPEN_COMPLETE: complete(run, &run->core[subject / stride], subject % stride, event->time); return;
  case HAPPEN_FLAG: arrive(run, (int64_t)event->subject, event->time); return;
  default: end_flow(run, event->subject, event->time);
  }
}

static bool waits(const item_t *item) { return item->action == WAIT_FLAG || item->action == WAIT_CROSS; }

static void note_waiting(run_t *run, waiting_t waiting) { run->record->waiting[run->record->waitings++] = waiting; }

/* Who waits when nothing can happen any more. */
static void require_end(run_t *run, double now) {
  for (int32_t number = 0; number < run->setup->cores; number++) {
    core_t *core = &run->core[number];
    for (int32_t place = 0; place < core->image->engines; place++) {
      const engine_t *engine = &core->engine[place];
      if (!engine->queued) continue;
      const pending_t *head = &engine->queue[engine->head];
      int32_t flag = waits(head->item) ? (int32_t)head->value[head->item->slots - 1] : -1;
      note_waiting(run, (waiting_t){number, place, head->number, flag});
    }
    if (core->ended) continue;
    const step_t *step = &core->image->step[core->step];
    const item_t *item = step->code == CODE_ITEM ? &core->image->item[step->item] : NULL;
    int32_t flag = -1;
    if (item && waits(item)) flag = (int32_t)value_of(core, &core->image->slot[item->first_slot + item->slots - 1]);
    note_waiting(run, (waiting_t){number, core->image->scalar_engine, item ? step->item : -1, flag});
  }
  if (!run->record->waitings) return;
  const waiting_t *first = &run->record->waiting[0];
  fail(run, DEADLOCK, first->core, first->item, now);
}

static void require_taken(run_t *run, const flag_t *flag, int64_t count, int32_t per_core, int32_t flags, bool crosses,
                          double now) {
  for (int64_t number = 0; number < count; number++) {
    if (!flag[number].count) continue;
    const set_t *set = &flag[number].set[flag[number].first];
    const item_t *item = &run->core[set->core].image->item[set->item];
    detail(run, set->engine, crosses ? -1 : item->other, number % per_core % flags, crosses, 0);
    fail(run, FLAG_LEFT, set->core, set->item, now);
  }
}

static void finish_run(run_t *run) {
  for (int32_t number = 0; number < run->watched_count; number++)
    for (int32_t engine = 0; engine < run->setup->group_engines && run->watched[number].log; engine++) {
      free(run->watched[number].log[engine].use);
      free(run->watched[number].log[engine].slot);
    }
  for (int32_t number = 0; run->core && number < run->setup->cores; number++)
    for (int32_t engine = 0; run->core[number].engine && engine < run->core[number].image->engines; engine++)
      free(run->core[number].engine[engine].flight);
  free(run->heap);
  free(run->setting);
  free(run->free_number);
  for (int64_t number = 0; number < run->blocks; number++) free(run->block[number]);
  free(run->block);
  free(run);
}

int32_t simulate(const setup_t *setup, record_t *record, execute_t execute) {
  run_t *run = calloc(1, sizeof *run);
  if (!run) return -2;
  run->setup = setup;
  run->machine = &setup->machine;
  run->record = record;
  run->execute = execute;
  double now = 0.0;
  if (!setjmp(run->leave)) {
    start_run(run);
    for (int32_t number = 0; number < setup->cores; number++) wake_scalar(run, &run->core[number], 0.0);
    while (run->happenings) {
      happening_t event = pop(run);
      now = event.time;
      happen(run, &event);
    }
    require_end(run, now);
    const machine_t *machine = run->machine;
    require_taken(run, run->flag, (int64_t)setup->cores * run->flags_a_core, run->flags_a_core, machine->event_flags, false, now);
    require_taken(run, run->cross, (int64_t)setup->cores * run->crosses_a_core, run->crosses_a_core, machine->cross_flags, true,
                  now);
  }
  int32_t kind = record->fault.kind;
  finish_run(run);
  return kind;
}

void release(record_t *record) {
  free(record->event);
  free(record->arrow);
  record->event = NULL;
  record->arrow = NULL;
}
