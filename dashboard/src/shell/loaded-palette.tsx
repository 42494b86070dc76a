// The command palette, loaded on first use.
import { FailedImport } from '../components/imported';
import { Modal } from '../components/modal';
import { useHasFailed, useImport } from '../lib/use-import';
import type { PaletteProps } from './palette';

const loadPalette = () => import('./palette');

export function LoadedPalette(props: PaletteProps) {
  const Palette = useImport(loadPalette)?.default;
  const hasFailed = useHasFailed(loadPalette);
  if (Palette !== undefined) return <Palette {...props} />;
  if (!hasFailed) return null;
  return (
    <Modal label="Go to" onClose={props.onClose}>
      <FailedImport name="the search" load={loadPalette} />
    </Modal>
  );
}
