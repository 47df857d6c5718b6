"""Cards for notebooks: the words of an answer in a frame that suits light and dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Analysis

_FRAME = (
    "border:1px solid rgba(128,128,128,.45);border-radius:8px;padding:.8em 1em;max-width:62em;"
    "line-height:1.45"
)
_SHARE = "display:inline-block;height:.7em;border-radius:2px;background:#3b7dd8;vertical-align:middle"


def text(title: str, words: str) -> str:
    """A card of words as they are."""
    return (
        f'<div style="{_FRAME}"><strong>{escape(title)}</strong>'
        f'<pre style="white-space:pre-wrap;margin:.4em 0 0">{escape(words.strip())}</pre></div>'
    )


def analysis(own: Analysis) -> str:
    """A card of the best configuration, the effects, the findings and the checks."""
    parts = [f'<div style="{_FRAME}"><strong>{escape(own.response)}</strong> &middot; {own.n} trials']
    if own.best is not None:
        settings = ", ".join(f"{name} = {value}" for name, value in own.best.configuration.items())
        ends = [_figure(own.best.ci_low), _figure(own.best.ci_high)]
        interval = f" ({ends[0]} to {ends[1]})" if all(ends) else ""
        parts.append(
            f"<p>Best measured: <strong>{escape(settings)}</strong><br>"
            f"{_figure(own.best.mean)}{interval}, mean of {own.best.n}</p>"
        )
    effects = [effect for effect in own.effects if effect.percent is not None]
    effects.sort(key=lambda effect: -(effect.percent or 0))
    if effects:
        rows = "".join(_effect_row(effect.term, effect.percent or 0, effect.p) for effect in effects[:8])
        parts.append(
            "<table><thead><tr><th>what matters</th><th>share</th><th></th><th>p</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
    if own.findings:
        items = "".join(f"<li>{escape(finding.text)}</li>" for finding in own.findings)
        parts.append(f"<details><summary>{len(own.findings)} findings</summary><ul>{items}</ul></details>")
    failed = [check for check in own.checks if check.holds is False]
    for check in failed:
        parts.append(f"<p>&#9888; {escape(check.name)}: {escape(check.verdict)}</p>")
    if own.checks and not failed:
        parts.append("<p>No check of the assumptions failed.</p>")
    parts.append("</div>")
    return "".join(parts)


def _effect_row(term: str, percent: float, p: float | None) -> str:
    bar = f'<span style="{_SHARE};width:{percent / 100 * 12:.2f}em"></span>'
    return (
        f'<tr><td style="text-align:left">{escape(term)}</td><td>{percent:.1f} %</td>'
        f'<td style="text-align:left">{bar}</td><td>{"" if p is None else f"{p:.2g}"}</td></tr>'
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
