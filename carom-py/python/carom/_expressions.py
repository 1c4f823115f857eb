"""Expressions of models: strings as they are, numbers, and expressions of sympy in the words of model files."""

from __future__ import annotations

from typing import Any


def expression(value: Any) -> Any:
    """A string or number as it is; an expression of sympy as text. Velocities of `y(t)` are `y'`."""
    if isinstance(value, (str, int, float)) or not hasattr(value, "free_symbols"):
        return value
    return _text(value)


def _text(value: Any) -> str:
    import sympy
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc]
        """Powers with ^, functions of time by their names, derivatives by primes."""

        def _print_Pow(self, expr: Any, rational: bool = False) -> str:
            return f"({self._print(expr.base)})^({self._print(expr.exp)})"

        def _print_Derivative(self, expr: Any) -> str:
            inner, orders = expr.expr, expr.variable_count
            if len(orders) != 1 or not isinstance(inner, sympy.core.function.AppliedUndef):
                raise ValueError(f"{expr} is no rate of a coordinate")
            return str(inner.func) + "'" * int(orders[0][1])

        def _print_Function(self, expr: Any) -> str:
            if isinstance(expr, sympy.core.function.AppliedUndef):
                return str(expr.func)
            return super()._print_Function(expr)

        def _print_Abs(self, expr: Any) -> str:
            return f"abs({self._print(expr.args[0])})"

        def _extreme(self, word: str, arguments: Any) -> str:
            first, *rest = (self._print(argument) for argument in arguments)
            for other in rest:
                first = f"{word}({first}, {other})"
            return first

        def _print_Max(self, expr: Any) -> str:
            return self._extreme("max", expr.args)

        def _print_Min(self, expr: Any) -> str:
            return self._extreme("min", expr.args)

        def _print_Heaviside(self, expr: Any) -> str:
            return f"step({self._print(expr.args[0])})"

        def _print_Float(self, expr: Any) -> str:
            return repr(float(expr))

        def _print_Exp1(self, expr: Any) -> str:
            return "exp(1)"

    return Printer().doprint(value)
