"""Follow a text through the source, from the place where it is used to the places where it is written.

`Follower.read` gives the forms that an expression may take, each a tuple of literals and holes (values that are not
known before the program runs). It knows f-strings, sums, choices, names that are assigned or looped over, arguments of
helpers, and what functions return, yield or gather in a list: the ways in which messages come about here. Whatever else
there is, is a hole.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

MOST = 24  # forms of one text; more of them, and the part that differs is a hole
DEEP = 4  # how far a text is followed

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Hole:
    """A place in a text where a value goes."""

    name: str


Text = tuple[str | Hole, ...]


@dataclass
class Module:
    """One file, with what is needed to follow a text through it."""

    name: str
    tree: ast.Module

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """Every function and method, by its name."""
        found: dict[str, list[Function]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def calls(self) -> dict[str, list[tuple[ast.Call, Function | None]]]:
        """Every call, by the last part of what is called, with the function that it stands in."""
        found: dict[str, list[tuple[ast.Call, Function | None]]] = {}
        for node, scope in _within(self.tree, None):
            if isinstance(node, ast.Call) and (name := _last(node.func)):
                found.setdefault(name, []).append((node, scope))
        return found

    @cached_property
    def imported(self) -> set[str]:
        """The last parts of the modules and names that this one takes from others."""
        froms = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        names = {alias.name for node in froms for alias in node.names}
        return names | {(node.module or "").rpartition(".")[2] for node in froms}

    @cached_property
    def constants(self) -> dict[str, ast.expr]:
        """What is assigned at the top."""
        found: dict[str, ast.expr] = {}
        for node in self.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    found[name] = value
        return found


@dataclass(frozen=True)
class Place:
    """Where an expression stands: its file, the function around it, and how far it was followed."""

    module: Module
    scope: Function | None
    deep: int = 0

    def further(self, module: Module | None = None, scope: Function | None = None) -> Place:
        """Give a place one step on: here, or in *scope* of *module*."""
        return Place(module or self.module, scope if module else self.scope, self.deep + 1)


@dataclass
class Follower:
    """Follows texts through all *modules*."""

    modules: Sequence[Module]
    _known: dict[tuple[int, int, int], list[Text]] = field(default_factory=dict)
    _nodes: dict[int, list[ast.AST]] = field(default_factory=dict)

    def read(self, node: ast.expr, at: Place) -> list[Text]:
        """List the forms that the text *node* may take; a form that is not known is a hole."""
        key = (id(node), id(at.scope), at.deep)
        if key not in self._known:
            self._known[key] = [(Hole(hole_name(node)),)]  # for what leads back to itself
            self._known[key] = _unique(self._forms(node, at)) or self._known[key]
        return self._known[key]

    def returned(self, function: Function, at: Place) -> list[Text]:
        """List the forms of what *function* returns."""
        values = [node.value for node in _own(function) if isinstance(node, ast.Return) and node.value is not None]
        return [text for value in values for text in self.read(value, at)]

    def _forms(self, node: ast.expr, at: Place) -> Iterable[Text]:
        found: Iterable[Text] = ()
        match node:
            case ast.Constant(value=str(text)):
                found = [(text,)]
            case ast.JoinedStr(values=parts):
                found = _joined([self._part(part, at) for part in parts])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                found = _joined([self._inner(side, at) for side in (left, right)])
            case ast.IfExp(body=left, orelse=right) | ast.BoolOp(op=ast.Or(), values=[left, right]):
                found = [*self.read(left, at), *self.read(right, at)]
            case ast.Name(id=name) if at.deep < DEEP:
                found = self._named(name, at)
            case ast.Call(func=called) if at.deep < DEEP:
                found = self._given(node, _last(called) or "", at)
        return found

    def _part(self, part: ast.expr, at: Place) -> list[Text]:
        if isinstance(part, ast.FormattedValue):
            plain = part.format_spec is None and part.conversion == -1
            return self._inner(part.value, at) if plain else [(Hole(hole_name(part.value)),)]
        return self.read(part, at)

    def _inner(self, node: ast.expr, at: Place) -> list[Text]:
        """Read a part of a text. Words of its own are written out, a mere name or value is a hole."""
        forms = self.read(node, at.further())
        hole: Text = (Hole(hole_name(node)),)
        if len(forms) > MOST // 2 or not any(letters(text) for text in forms):
            return [hole]
        here = isinstance(node, ast.IfExp | ast.BoolOp | ast.Constant) or self._is_chosen(node, at.scope)
        kept = [text for text in forms if here or text == ("",) or " " in "".join(map(str, text))]
        worded = [text for text in kept if letters(text) or text == ("",)]
        return worded if len(worded) == len(forms) else [*worded, hole]

    def _is_chosen(self, node: ast.expr, scope: Function | None) -> bool:
        """Say whether *node* is a name that is given one of two words within *scope*."""
        if not isinstance(node, ast.Name) or scope is None:
            return False
        given = [one for one in self._all(scope) if isinstance(one, ast.Assign) and isinstance(one.value, ast.IfExp)]
        return any(_places(one.targets[0], node.id) == [None] for one in given)

    def _named(self, name: str, at: Place) -> list[Text]:
        """Follow a name: to where it is assigned, looped over, or given as an argument."""
        if at.scope is None:
            constant = at.module.constants.get(name)
            return self.read(constant, at.further()) if constant is not None else []
        bound = list(self._bindings(name, at.scope))
        if bound:
            return [text for value, place, looped in bound for text in self._bound(value, place, looped, at)]
        if name in _parameters(at.scope):
            return list(self._argued(name, at.module, at.scope, at.deep))
        return self._named(name, Place(at.module, None, at.deep))

    def _bindings(self, name: str, scope: Function) -> Iterator[tuple[ast.expr, int | None, bool]]:
        """List what *name* is bound to: the value, the place in it if it is a tuple, and whether it is looped over."""
        for node in self._all(scope):
            match node:
                case ast.AugAssign(target=ast.Name(id=target)) if target == name:
                    yield ast.Constant(None), None, False  # grows: nobody can say what it is
                case ast.Assign(targets=[target], value=value) | ast.NamedExpr(target=target, value=value):
                    yield from ((value, place, False) for place in _places(target, name))
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    yield from ((value, place, False) for place in _places(target, name))
                case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                    yield from ((value, place, True) for place in _places(target, name))

    def _bound(self, value: ast.expr, place: int | None, looped: bool, at: Place) -> Iterator[Text]:
        if looped:
            for node, where in self._elements(value, at.further()):
                if place is None:
                    yield from self.read(node, where)
                elif isinstance(node, ast.Tuple) and place < len(node.elts):
                    yield from self.read(node.elts[place], where)
        elif place is None:
            yield from self.read(value, at.further())
        elif isinstance(value, ast.Tuple) and place < len(value.elts):
            yield from self.read(value.elts[place], at.further())
        else:
            yield from self._in_tuples(value, place, at)

    def _argued(self, name: str, module: Module, scope: Function, deep: int) -> Iterator[Text]:
        """Read what callers give for the parameter *name* of *scope*."""
        names = _parameters(scope)
        position = names.index(name) - (1 if names[0] in {"self", "cls"} else 0)
        own_name = module.name.rpartition("/")[2].removesuffix(".py")
        for other in self.modules:
            if other is module or scope.name in other.imported or own_name in other.imported:
                for call, where in other.calls.get(scope.name, ()):
                    given = argument(call, position, name)
                    if given is not None and where is not scope:
                        yield from self.read(given, Place(other, where, deep + 1))

    def _given(self, call: ast.Call, name: str, at: Place) -> list[Text]:
        """Read what a call gives: what the function returns, or a text that is filled in over a table."""
        if name == "format" and isinstance(call.func, ast.Attribute) and _last(call.func.value) == "pl":
            holes = [Hole(hole_name(one)) for one in call.args[1:]]
            return [_filled(text, holes) for text in self.read(call.args[0], at)]
        functions = self._functions(name, at.module)
        return [text for home, one in functions for text in self.returned(one, at.further(home, one))]

    def _functions(self, name: str, module: Module) -> Iterator[tuple[Module, Function]]:
        for home in self.modules:
            if home is module or name in module.imported:
                yield from ((home, function) for function in home.functions.get(name, ()))

    def _in_tuples(self, node: ast.expr, place: int, at: Place) -> Iterator[Text]:
        """Read one place of the tuple that a call returns; what is called may stand in a table."""
        if not isinstance(node, ast.Call) or at.deep >= DEEP:
            return
        called = node.func
        table = at.module.constants.get(_last(called.value) or "") if isinstance(called, ast.Subscript) else None
        names = [_last(one) for one in table.values] if isinstance(table, ast.Dict) else [_last(called)]
        for home, function in itertools.chain.from_iterable(self._functions(name or "", at.module) for name in names):
            for one in _own(function):
                match one:
                    case ast.Return(value=ast.Tuple(elts=elements)) if place < len(elements):
                        yield from self.read(elements[place], at.further(home, function))
                    case ast.Return(value=ast.Call() as onward):
                        yield from self._in_tuples(onward, place, at.further(home, function))

    def _elements(self, node: ast.expr, at: Place) -> Iterator[tuple[ast.expr, Place]]:
        """List the elements of a list, of what makes one, or of what a function yields."""
        if at.deep > DEEP + 2:
            return
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                for one in elements:
                    yield from self._elements(one.value, at.further()) if isinstance(one, ast.Starred) else [(one, at)]
            case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one):
                yield one, at
            case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
                for side in (left, right):
                    yield from self._elements(side, at.further())
            case ast.Subscript(value=whole) | ast.Call(func=ast.Name(id="list" | "sorted" | "tuple"), args=[whole, *_]):
                yield from self._elements(whole, at.further())
            case ast.Call(func=called):
                for home, function in self._functions(_last(called) or "", at.module):
                    yield from self._made(function, at.further(home, function))
            case ast.Name(id=name) if at.scope is not None:
                yield from self._gathered(name, at.scope, at)

    def _made(self, function: Function, at: Place) -> Iterator[tuple[ast.expr, Place]]:
        for node in _own(function):
            match node:
                case ast.Return(value=ast.expr() as value) | ast.YieldFrom(value=value):
                    yield from self._elements(value, at)
                case ast.Yield(value=ast.expr() as value):
                    yield value, at

    def _gathered(self, name: str, scope: Function, at: Place) -> Iterator[tuple[ast.expr, Place]]:
        """List what is put into the list *name* within *scope*."""
        for node in self._all(scope):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    yield from self._elements(value, at.further())
                case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                    yield from self._elements(value, at.further())
                case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                    yield from self._elements(value, at.further())
                case ast.Call(func=ast.Attribute(value=ast.Name(id=target), attr="append"), args=[one]):
                    yield from [(one, at)] if target == name else []
                case ast.Call(func=ast.Attribute(value=ast.Name(id=target), attr="extend"), args=[several]):
                    yield from self._elements(several, at.further()) if target == name else ()

    def _all(self, scope: Function) -> list[ast.AST]:
        if id(scope) not in self._nodes:
            self._nodes[id(scope)] = list(ast.walk(scope))
        return self._nodes[id(scope)]


def _within(node: ast.AST, scope: Function | None) -> Iterator[tuple[ast.AST, Function | None]]:
    for child in ast.iter_child_nodes(node):
        yield child, scope
        yield from _within(child, child if isinstance(child, Function) else scope)


def _own(function: Function) -> Iterator[ast.AST]:
    """Go through a function without the functions within it."""
    return (node for node, scope in _within(function, function) if scope is function)


def _last(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def _parameters(function: Function) -> list[str]:
    every = function.args
    return [one.arg for one in (*every.posonlyargs, *every.args, *every.kwonlyargs)]


def _places(target: ast.expr, name: str) -> list[int | None]:
    """Say where *name* stands in the target of an assignment: by itself (None) or at a place of a tuple."""
    match target:
        case ast.Name(id=found):
            return [None] if found == name else []
        case ast.Tuple(elts=elements):
            return [place for place, one in enumerate(elements) if isinstance(one, ast.Name) and one.id == name]
        case _:
            return []


def _joined(parts: list[list[Text]]) -> list[Text]:
    """Put parts together in every way that there is."""
    count = 1
    for forms in parts:
        count *= len(forms)
    if count > MOST:
        return []
    return [tuple(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*parts)]


def _filled(text: Text, holes: list[Hole]) -> Text:
    """Put *holes* where the text says {}."""
    rest = iter(holes)
    found: list[str | Hole] = []
    for part in text:
        if isinstance(part, Hole):
            found.append(part)
            continue
        first, *others = part.split("{}")
        found.append(first)
        for other in others:
            found += [next(rest, Hole("value")), other]
    return tuple(found)


def _unique(texts: Iterable[Text]) -> list[Text]:
    return list(dict.fromkeys(texts))


def argument(call: ast.Call, position: int | None, keyword: str) -> ast.expr | None:
    """Give the argument of a call, by name or by position."""
    named = next((one.value for one in call.keywords if one.arg == keyword), None)
    if named is not None or position is None or position >= len(call.args):
        return named
    given = call.args[position]
    return None if isinstance(given, ast.Starred) else given


def letters(text: Text) -> int:
    """Count the letters of a text that are not values."""
    return sum(character.isalpha() for part in text if isinstance(part, str) for character in part)


def hole_name(node: ast.expr) -> str:
    """Name a value after what it is made of.

    >>> hole_name(ast.parse("', '.join(sorted(self.labels))", mode="eval").body)
    'labels'
    """
    inner: ast.expr | None = None
    name = "value"
    match node:
        case ast.Attribute(attr="value", value=inner):  # of an enumeration
            pass
        case ast.Name(id=name) | ast.Attribute(attr=name):
            pass
        case ast.Call(func=ast.Name(id=name)) if name.startswith("_"):
            pass
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Constant()), args=[inner, *_]):
            pass
        case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            pass
        case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner) | ast.BinOp(left=inner):
            pass
        case ast.JoinedStr(values=[ast.FormattedValue(value=inner), *_]):
            pass
        case _:
            name = "value"
    return hole_name(inner) if inner is not None else name.strip("_").lower() or "value"
