"""Every op's definition is whole, its samples run, its misuses are refused, and generic code names no op."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError, catalogue
from xdsl_core.diagnostics.codes import ops as op_codes
from xdsl_core.interp import run
from xdsl_core.ir import Trait, parse_module, print_module, verify
from xdsl_core.opdef import Contraction, NoBudget, OpDef, Sample
from xdsl_core.opdef.completeness import missing_families
from xdsl_core.opdef.document import document, document_op
from xdsl_core.opdef.rules import evaluate
from xdsl_core.opdef.sampling import family, sample_data, sample_operands, sample_regions, sample_types
from xdsl_core.ops import CORE, Add
from xdsl_core.ops.harness import case_of, is_runnable

ROOT = Path(__file__).resolve().parents[2]
GENERIC = ("ir", "opdef", "interp")
every_op = pytest.mark.parametrize("definition", list(CORE), ids=lambda definition: definition.name)
runnable_op = pytest.mark.parametrize(
    "definition", [d for d in CORE if is_runnable(d)], ids=lambda definition: definition.name
)


def types_of(definition: OpDef, sample: Sample) -> dict[str, object]:
    return definition.namespace(
        sample_operands(definition, sample), sample.attributes, sample_regions(definition, sample)
    )


@every_op
def test_definition_is_documented(definition: OpDef) -> None:
    assert len(definition.doc) > 20
    parts = {**definition.operands, **definition.attributes, **definition.results, **definition.regions}
    assert all(len(part.doc) >= 3 for part in parts.values())
    text = document_op(definition)
    assert all(name in text for name in parts)
    assert all(rule.text in text and rule.code in text for rule in definition.constraints)


@every_op
def test_samples_cover_every_family(definition: OpDef) -> None:
    assert definition.samples
    for name in definition.operands:
        assert not missing_families(definition, name), name


@every_op
def test_samples_keep_the_rules(definition: OpDef) -> None:
    for sample in definition.samples:
        groups, regions = sample_operands(definition, sample), sample_regions(definition, sample)
        assert not definition.problems(groups, sample.attributes, regions), sample


@every_op
def test_misuse_is_refused_by_the_named_constraint(definition: OpDef) -> None:
    for sample in definition.error_samples:
        groups, regions = sample_operands(definition, sample), sample_regions(definition, sample)
        with pytest.raises(CompilationError) as refused:
            definition.infer(groups, sample.attributes, regions)
        (diagnostic,) = refused.value.diagnostics
        rule = next(rule for rule in definition.constraints if rule.label == sample.constraint)
        assert diagnostic.code == rule.code
        notes = {note.kind: note.text for note in diagnostic.notes}
        assert notes == {"requires": f"({rule.label}): {rule.text}", "help": rule.help}
        assert definition.name in diagnostic.message


@every_op
def test_budget_fits_the_results(definition: OpDef) -> None:
    produces_numbers = bool(definition.results) and Trait.CONTROL not in definition.traits
    assert not (produces_numbers and isinstance(definition.budget, NoBudget))
    if isinstance(definition.budget, Contraction):
        for sample in definition.samples:
            names = types_of(definition, sample)
            assert evaluate(definition.budget.over, names) >= 1
            assert 0 <= evaluate(definition.budget.term_error, names) < 0.01


SHAPED = [d for d in CORE if is_runnable(d) and any(f.pattern.tiles for f in d.operands.values())]


@pytest.mark.parametrize(
    "definition", [d for d in SHAPED if Trait.CONTROL not in d.traits], ids=lambda definition: definition.name
)
def test_samples_vary_in_shape(definition: OpDef) -> None:
    shapes = {
        kind.shape
        for sample in definition.samples
        for kinds in sample_types(definition, sample).values()
        for kind in kinds
    }
    extents = {extent for shape in shapes for extent in shape}
    assert any(extent & (extent - 1) for extent in extents), "no extent that is no power of two"
    if Trait.PURE in definition.traits and len(definition.samples) > 4:
        assert 1 in extents or () in shapes
        assert max(map(len, shapes)) >= 2


@runnable_op
def test_samples_run(definition: OpDef) -> None:
    """Each sample as a kernel is valid, survives printing and parsing, and runs without a complaint."""
    for number, sample in enumerate(definition.samples):
        case = case_of(definition, sample, seed=number)
        assert not verify(case.module)
        text = print_module(case.module)
        assert print_module(parse_module(text, CORE)) == text
        arguments = case.fresh_arguments()
        run(case.module, (1,), list(arguments.values()), check=True)
        for name in set(arguments) - set(case.outputs):
            assert arguments[name].tobytes() == case.arguments[name].tobytes()


@pytest.mark.parametrize(
    "definition", [d for d in CORE if Trait.ELEMENTWISE in d.traits], ids=lambda definition: definition.name
)
def test_elementwise_means_one_shape(definition: OpDef) -> None:
    for sample in definition.samples:
        groups = sample_operands(definition, sample)
        shapes = {value.type.shape for group in groups for value in group}
        results = {kind.shape for kind in definition.infer(groups, sample.attributes, ())}
        assert shapes == results
        assert len(shapes) == 1


@pytest.mark.parametrize(
    "definition", [d for d in CORE if Trait.COMMUTATIVE in d.traits], ids=lambda definition: definition.name
)
def test_commutative_operands_may_change_places(definition: OpDef) -> None:
    first, second = list(definition.operands)[:2]
    for sample in definition.samples:
        if sample.values:
            continue
        data = sample_data(definition, sample)
        wide = {n: a[0].astype(np.float64) if a[0].dtype.kind not in "iub" else a[0] for n, a in data.items()}
        attributes = {name: facet.default for name, facet in definition.attributes.items()} | dict(
            sample.attributes
        )
        arguments = {**wide, **attributes}
        swapped = {**arguments, first: arguments[second], second: arguments[first]}
        with np.errstate(all="ignore"):
            found, other = (
                definition.meaning(*(names[p] for p in definition.meaning_parameters))
                for names in (arguments, swapped)
            )
        np.testing.assert_array_equal(found, other)


def test_traits_have_what_they_promise() -> None:
    for definition in CORE:
        traits = definition.traits
        if Trait.REDUCTION in traits:
            assert "axis" in definition.attributes
        if Trait.CONSTANT in traits:
            assert not definition.operands
        if Trait.MOVEMENT in traits:
            assert len(definition.operands) == 1
        if Trait.CONTROL in traits:
            assert definition.regions
        if Trait.TERMINATOR in traits:
            assert not definition.results


def test_every_dtype_is_sampled_in_the_main_ops() -> None:
    for name in ("tile.add", "tile.cast", "memory.load", "memory.store"):
        definition = CORE[name]
        seen = {
            str(getattr(kind.element, "pointee", kind.element))
            for sample in definition.samples
            for kinds in sample_types(definition, sample).values()
            for kind in kinds
        }
        wanted = {d.name for facet in definition.operands.values() for d in facet.pattern.dtypes}
        assert wanted <= seen, wanted - seen
    assert {family(dtype) for dtype in dtypes.ALL} == {"bool", "int", "uint", "fp8", "half", "f32", "f64"}


def test_same_seed_same_data() -> None:
    sample = Add.samples[1]
    first, second, other = (sample_data(Add, sample, seed=seed)["lhs"][0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_every_error_code_of_ops_is_raised_by_something() -> None:
    by_samples = {rule.code for definition in CORE for rule in definition.constraints}
    by_definitions = {"X0201", "X0203", "X0204"}  # tests/unit/opdef
    by_default = {"X0202"}  # rules of other dialects that name no code
    assert by_samples | by_definitions | by_default == set(op_codes.CODES)
    for code in op_codes.CODES:
        assert "Fix:" in catalogue()[code].explanation, code


def test_the_reference_document_holds_every_op() -> None:
    text = document(CORE)
    assert [re.match(r"### (\S+)", part)[1] for part in re.findall(r"### \S+", text)] == sorted(CORE.names())


def _code(path: Path) -> Iterator[tuple[int, str]]:
    """String constants that are no docstrings, and names imported from the ops, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xdsl_core.ops"):
            yield from ((node.lineno, alias.name) for alias in node.names)


@pytest.mark.parametrize("package", GENERIC)
def test_generic_code_names_no_op(package: str) -> None:
    classes = {
        name
        for name, value in vars(__import__("xdsl_core.ops", fromlist=["ops"])).items()
        if isinstance(value, OpDef)
    }
    names = re.compile("|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])" for name in CORE.names()))
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in sorted((ROOT / "xdsl_core" / package).rglob("*.py"))
        for line, text in _code(path)
        if names.search(text) or text in classes
    ]
    assert not found


def test_the_check_for_op_names_sees_them(tmp_path: Path) -> None:
    offender = tmp_path / "offender.py"
    offender.write_text(
        '"""tile.add in a docstring is fine."""\nfrom xdsl_core.ops import Add\nx = "tile.add"\n'
    )
    assert [text for _, text in _code(offender)] == ["Add", "tile.add"]
