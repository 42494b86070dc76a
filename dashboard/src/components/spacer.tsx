// The space above and below the rendered rows of a virtualized table.

interface SpacerProps {
  /** Of the rows that are not rendered, in pixels. */
  height: number;
}

/** Between the bodies of a table. */
export function Spacer({ height }: SpacerProps) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true" className="max-lg:block">
      <tr>
        <td style={{ height }} className="p-0" />
      </tr>
    </tbody>
  );
}

/** Between the rows of a body. */
export function SpacerRow({ height, columns }: SpacerProps & { columns: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it contains nothing focusable
    <tr aria-hidden="true">
      <td colSpan={columns} className="p-0" style={{ height }} />
    </tr>
  );
}
