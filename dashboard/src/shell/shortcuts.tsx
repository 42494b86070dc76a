// The list of keyboard shortcuts.
import { X } from 'lucide-react';
import { IconButton } from '../components/button';
import { Key } from '../components/key';
import { Modal } from '../components/modal';
import { COMMAND_KEY } from './header';

/** Groups of shortcuts; `keys` are alternatives. */
const GROUPS = [
  {
    name: 'All pages',
    keys: [
      { action: 'Go to a page, a run or an experiment', keys: [`${COMMAND_KEY} K`] },
      { action: 'Search this page', keys: ['/'] },
      { action: 'Show these shortcuts', keys: ['?'] },
      { action: 'Close dialog', keys: ['Esc'] },
    ],
  },
  {
    name: 'Runs and experiments',
    keys: [
      { action: 'Next row', keys: ['j', '↓'] },
      { action: 'Previous row', keys: ['k', '↑'] },
      { action: 'Open', keys: ['Enter'] },
      { action: 'Select run', keys: ['x', 'Space'] },
    ],
  },
  {
    name: 'Items of a run',
    keys: [
      { action: 'Next row', keys: ['j', '↓'] },
      { action: 'Previous row', keys: ['k', '↑'] },
      { action: 'Open', keys: ['Enter'] },
      { action: 'Wider or narrower column', keys: ['Shift ←', 'Shift →'] },
      { action: 'Move column', keys: ['Ctrl Shift ←', 'Ctrl Shift →'] },
    ],
  },
  {
    name: 'Item',
    keys: [
      { action: 'Next item', keys: ['j'] },
      { action: 'Previous item', keys: ['k'] },
      { action: 'Next tab', keys: [']'] },
      { action: 'Previous tab', keys: ['['] },
      { action: 'Close item', keys: ['Esc'] },
    ],
  },
  {
    name: 'Trace',
    keys: [
      { action: 'Move between spans', keys: ['↑', '↓'] },
      { action: 'Collapse or expand', keys: ['←', '→'] },
      { action: 'Show span', keys: ['Enter'] },
    ],
  },
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Modal label="Keyboard shortcuts" onClose={onClose} className="w-md max-w-[calc(100vw-2rem)]">
      <div className="flex items-center justify-between border-line border-b py-2 pr-2 pl-5">
        <h2 className="font-semibold">Keyboard shortcuts</h2>
        <IconButton label="Close" onClick={onClose}>
          <X />
        </IconButton>
      </div>
      <div className="flex flex-col gap-5 p-5">
        {GROUPS.map((group) => (
          <section key={group.name}>
            <h3 className="mb-2 text-muted text-xs">{group.name}</h3>
            <dl className="grid grid-cols-[1fr_auto] items-center gap-x-4 gap-y-2">
              {group.keys.map(({ action, keys }) => (
                <div key={action} className="contents">
                  <dt>{action}</dt>
                  <dd className="flex justify-end gap-1">
                    {keys.map((key) => (
                      <Key key={key}>{key}</Key>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
