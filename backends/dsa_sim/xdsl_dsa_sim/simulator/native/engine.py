"""Runs a program in the C engine: hands over the image, and turns what comes back into a record."""

from __future__ import annotations

import struct
from typing import Any

from xdsl_dsa_sim.simulator.faults import Fault, Kind, Waiting
from xdsl_dsa_sim.simulator.native import image_data, library
from xdsl_dsa_sim.simulator.python.state import Executor
from xdsl_dsa_sim.simulator.record import Arrow, EngineTotals, Event, ItemTotals, Record, empty_record
from xdsl_dsa_sim.simulator.setup import Setup


def run_native(setup: Setup, executor: Executor) -> Record:
    """Run a program; the record of what happened. Raises Fault for a mistake of the program."""
    ffi, code = library.load()
    data = image_data.Data(ffi)
    given = image_data.setup_data(data, setup)
    record, results = _record(ffi, data, setup)
    stopped: list[BaseException] = []
    execute = _callback(ffi, setup, executor, stopped)
    kind = code.simulate(given, record, execute)
    try:
        if kind == -2:
            raise MemoryError("the simulator's C engine is out of memory")
        if stopped:
            raise _placed(stopped[0], record.fault)
        if kind:
            raise _fault(record)
        return _collected(setup, record, results)
    finally:
        code.release(record)


def _callback(ffi: Any, setup: Setup, executor: Executor, stopped: list[BaseException]) -> Any:
    """The C function that runs an instruction's meaning; an exception ends the run."""
    floats = [
        [
            [slot.register in core.float_registers or isinstance(slot.constant, float) for slot in item.slots]
            for item in core.items
        ]
        for core in setup.image.cores
    ]
    images = [setup.image.cores.index(core.image) for core in setup.cores]

    def execute(core: int, number: int, values: Any, program: int, result: Any) -> int:
        item = setup.cores[core].image.items[number]
        kinds = floats[images[core]][number]
        numbers = tuple(_float(values[n]) if real else values[n] for n, real in enumerate(kinds))
        try:
            found = executor(core, item, numbers, program)
        except BaseException as problem:
            stopped.append(problem)
            return 1
        if item.register >= 0:
            result[0] = image_data.register_bits(found, item.result is not None and item.result.is_float)
        return 0

    return ffi.callback("execute_t", execute)


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def _placed(problem: BaseException, fault: Any) -> BaseException:
    """An exception of the callback; a Fault gets the cycle, which only the engine knows."""
    if isinstance(problem, Fault):
        return Fault(problem.kind, problem.core, problem.item, fault.cycle, problem.detail)
    return problem


def _fault(record: Any) -> Fault:
    fault = record.fault
    waiting = tuple(
        Waiting(w.core, w.engine, w.item, w.flag) for w in (record.waiting[n] for n in range(record.waitings))
    )
    kind = Kind(fault.kind)
    return Fault(kind, fault.core, fault.item, fault.cycle, tuple(fault.detail)[: kind.details], waiting)


def _record(ffi: Any, data: image_data.Data, setup: Setup) -> tuple[Any, dict[str, Any]]:
    """Room for what the engine counts, all zero."""
    cores, stride = len(setup.cores), image_data.stride_of(setup)
    results = {
        "core_cycles": data.array("double", cores),
        "engine": data.array("engine_totals_t", cores * stride),
        "wait": data.array("double", cores * stride * (stride + 1)),
        "items": [data.array("item_totals_t", len(core.items)) for core in setup.image.cores],
        "high_water": data.array("int64_t", len(setup.image.cores) * len(setup.image.spaces)),
        "waiting": data.array("waiting_t", cores * (stride + 1)),
    }
    for number in range(cores * stride):
        results["engine"][number].first = -1.0
    record = ffi.new("record_t *")
    record.core_cycles, record.engine, record.wait = (
        results[name] for name in ("core_cycles", "engine", "wait")
    )
    record.item = data.keep(ffi.new("item_totals_t *[]", results["items"] or [ffi.NULL]))
    record.high_water, record.waiting = results["high_water"], results["waiting"]
    return record, results


def _collected(setup: Setup, record: Any, results: dict[str, Any]) -> Record:
    found = empty_record(setup)
    stride, spaces = image_data.stride_of(setup), len(setup.image.spaces)
    found.core_cycles = list(results["core_cycles"])[: len(setup.cores)]
    for core, engines in enumerate(found.engines):
        for engine in range(len(engines)):
            engines[engine] = _engine_totals(results, core * stride + engine, stride, len(engines))
    for image, items in enumerate(found.items):
        for number in range(len(items)):
            c = results["items"][image][number]
            items[number] = ItemTotals(c.count, c.busy, c.bytes, c.work)
        marks = results["high_water"]
        found.high_water[image] = [marks[image * spaces + space] for space in range(spaces)]
    found.dram_read, found.dram_written, found.l2_moved = (
        record.dram_read,
        record.dram_written,
        record.l2_moved,
    )
    events = (record.event[n] for n in range(record.events))
    found.events = [Event(e.core, e.engine, e.item, e.program, e.start, e.free_at, e.end) for e in events]
    arrows = (record.arrow[n] for n in range(record.arrows))
    found.arrows = [Arrow(a.core, a.engine, a.set_at, a.to_core, a.to_engine, a.taken_at) for a in arrows]
    return found


def _engine_totals(results: dict[str, Any], index: int, stride: int, engines: int) -> EngineTotals:
    c = results["engine"][index]
    waits = [results["wait"][index * (stride + 1) + other] for other in (*range(engines), stride)]
    return EngineTotals(c.busy, c.count, c.first, c.last, c.held, waits)
