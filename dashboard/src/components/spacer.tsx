// The space above and below the rendered items of a virtualized table.

/** Reserves the space of items that are not rendered. */
export function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true" className="max-lg:block">
      <tr>
        <td style={{ height, padding: 0 }} />
      </tr>
    </tbody>
  );
}
