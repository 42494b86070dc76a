// The space above and below the rendered rows of a virtualized table.

/** Reserves the space of rows that are not rendered. */
export function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr>
        <td style={{ height }} className="p-0" />
      </tr>
    </tbody>
  );
}
