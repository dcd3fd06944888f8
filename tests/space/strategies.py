"""Random ConfigSpace spaces, for hypothesis."""

from typing import Any

import ConfigSpace as CS
from hypothesis import reject
from hypothesis import strategies as st

OPTIONS = ["a", "b", "c", "d"]
FEW = ["choice", "ordinal", "constant", "one", "beta"]  # the kinds with few values
KINDS = [*FEW, "real", "log", "int", "logint", "normal"]


@st.composite
def hyperparameters(draw: st.DrawFn, name: str, kinds: list[str] = KINDS) -> Any:
    match draw(st.sampled_from(kinds)):
        case "real":
            low = draw(st.floats(-100, 100).map(lambda v: round(v, 3)))
            return CS.UniformFloatHyperparameter(name, low, low + draw(st.floats(0.5, 1000).map(lambda v: round(v, 3))))
        case "log":
            low = draw(st.sampled_from([1e-8, 1e-5, 1e-3, 0.37, 12.5]))
            return CS.UniformFloatHyperparameter(name, low, low * draw(st.sampled_from([3, 1e3, 1e10])), log=True)
        case "int":
            low = draw(st.integers(-50, 50))
            return CS.UniformIntegerHyperparameter(name, low, low + draw(st.integers(1, 40)))
        case "logint":
            low = draw(st.integers(1, 20))
            return CS.UniformIntegerHyperparameter(name, low, low + draw(st.integers(1, 5000)), log=True)
        case "choice":
            k = draw(st.integers(2, 4))
            weights = draw(st.none() | st.lists(st.floats(0.1, 1), min_size=k, max_size=k))
            return CS.CategoricalHyperparameter(name, OPTIONS[:k], weights=weights)
        case "ordinal":
            return CS.OrdinalHyperparameter(name, [1, 3, 9, 27][: draw(st.integers(2, 4))])
        case "constant":
            return CS.Constant(name, "fixed")
        case "normal":
            return CS.NormalFloatHyperparameter(name, 0.5, 2.0, lower=-5.0, upper=5.0)
        case "beta":
            return CS.BetaIntegerHyperparameter(name, alpha=2, beta=3, lower=1, upper=9)
    return CS.CategoricalHyperparameter(name, ["only"])


def value_of(draw: st.DrawFn, parent: Any) -> Any:
    if isinstance(parent, CS.CategoricalHyperparameter):
        return draw(st.sampled_from(parent.choices))
    if isinstance(parent, CS.OrdinalHyperparameter):
        return draw(st.sampled_from(parent.sequence))
    if isinstance(parent, CS.Constant):
        return parent.value
    if hasattr(parent, "lower") and isinstance(parent.lower, int):
        return draw(st.integers(parent.lower, parent.upper))
    return parent.default_value


@st.composite
def one_condition(draw: st.DrawFn, child: Any, parent: Any, parent_is_conditional: bool) -> Any:
    value = value_of(draw, parent)
    if isinstance(parent, CS.CategoricalHyperparameter) and draw(st.booleans()):
        values = draw(st.lists(st.sampled_from(parent.choices), min_size=1, unique=True))
        return CS.InCondition(child, parent, values)
    is_ordered = not isinstance(parent, CS.CategoricalHyperparameter | CS.Constant)
    kinds: list[Any] = [CS.EqualsCondition]
    if not parent_is_conditional:  # ConfigSpace contradicts itself where an inactive parent is "not equal"
        kinds.append(CS.NotEqualsCondition)
    if is_ordered:
        kinds = [CS.LessThanCondition, CS.GreaterThanCondition]
    return draw(st.sampled_from(kinds))(child, parent, value)


@st.composite
def configspaces(
    draw: st.DrawFn, forbidden: bool = True, kinds: list[str] = KINDS, most: int = 6
) -> CS.ConfigurationSpace:
    n = draw(st.integers(1, most))
    space = CS.ConfigurationSpace()
    parts = [draw(hyperparameters(f"h{i}", kinds)) for i in range(n)]
    space.add(*parts)
    # one of the two: ConfigSpace 1.2 takes "a and b" for "a or b" where another child has that; ours does not
    combine = draw(st.sampled_from([CS.AndConjunction, CS.OrConjunction]))
    for i in range(1, n):
        if not draw(st.booleans()):
            continue
        parents = draw(st.lists(st.sampled_from(parts[:i]), min_size=1, max_size=2, unique_by=lambda h: h.name))
        conditional = {condition.child.name for condition in space.conditions}
        conditions = [draw(one_condition(parts[i], parent, parent.name in conditional)) for parent in parents]
        try:
            space.add(combine(*conditions) if len(conditions) == 2 else conditions[0])
        except ValueError:  # ConfigSpace stumbles over the default of some chains with "and"
            reject()
    choices = [h for h in parts if isinstance(h, CS.CategoricalHyperparameter) and len(h.choices) > 2]
    if forbidden and choices and draw(st.booleans()):
        # not the default: ConfigSpace does not allow it to be forbidden
        clauses = [CS.ForbiddenEqualsClause(h, next(c for c in h.choices if c != h.default_value)) for h in choices[:2]]
        space.add(CS.ForbiddenAndConjunction(*clauses) if len(clauses) > 1 else clauses[0])
    return space
