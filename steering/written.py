"""Show what a model wrote to some texts at several strengths of a push, side by side."""

import html
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class WrittenTexts:
    """See the module's text; `print` it, let a notebook show it, or take it as a table.

    Attributes:
        prompts: what was asked. columns: magnitude -> what was written to each.
    """

    prompts: tuple[str, ...]
    columns: dict[float, tuple[str, ...]]

    def to_frame(self) -> pd.DataFrame:
        """One row for each prompt, one column for each magnitude."""
        return pd.DataFrame(self.columns, index=pd.Index(self.prompts, name="prompt")).rename_axis(columns="magnitude")

    def __repr__(self) -> str:
        blocks = [
            "\n".join([prompt, *(f"  {m:+g}  {texts[place].strip()}" for m, texts in self.columns.items())])
            for place, prompt in enumerate(self.prompts)
        ]
        return "\n".join(blocks)

    def _repr_html_(self) -> str:
        def row(cells: list[str], kind: str = "td") -> str:
            style = "text-align:left;vertical-align:top;white-space:pre-wrap"
            return f"<tr>{''.join(f'<{kind} style={style!r}>{html.escape(each)}</{kind}>' for each in cells)}</tr>"

        rows = [
            row([prompt, *(texts[place].strip() for texts in self.columns.values())])
            for place, prompt in enumerate(self.prompts)
        ]
        return f"<table>{row(['', *(f'{m:+g}' for m in self.columns)], 'th')}{''.join(rows)}</table>"
