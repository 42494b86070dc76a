// The named views of the items: they are applied, saved, renamed, deleted, and copied as links.
import { Bookmark, Link as LinkIcon, Pencil, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { Button, IconButton } from '../../../components/button';
import { CopyButton } from '../../../components/copy-button';
import { CutText } from '../../../components/cut-text';
import { FIELD_FRAME } from '../../../components/field';
import { Popover } from '../../../components/popover';
import { escapeHidden } from '../../../lib/texts';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { useViews, type View, viewQuery, withView } from './views';

export function ViewMenu({ experiment }: { experiment: string }) {
  return (
    <Popover
      label="Views"
      trigger={
        <Button>
          <Bookmark aria-hidden="true" />
          Views
        </Button>
      }
    >
      <ViewList experiment={experiment} />
    </Popover>
  );
}

function ViewList({ experiment }: { experiment: string }) {
  const { views, save, remove, rename } = useViews(experiment);
  const { search } = useUrlParameters();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const current = viewQuery(search);
  return (
    <div className="flex w-80 max-w-full flex-col gap-3">
      {views.length > 0 && (
        <ul aria-label="Saved views">
          {views.map((view) => (
            <ViewLine
              key={view.name}
              view={view}
              isCurrent={view.query === current}
              address={`${pathname}?${view.query}`}
              onOpen={() => void navigate(`${pathname}?${withView(search, view.query)}`)}
              onRename={(name) => rename(view.name, name)}
              onDelete={() => remove(view.name)}
            />
          ))}
        </ul>
      )}
      <NameForm
        label="Name of the view"
        action="Save view"
        onName={(name) => save({ name, query: current })}
      />
      <p className="text-muted text-xs">
        A view keeps the filters, the order, the groups and the columns. It is saved in this browser, for all
        runs of the experiment.
      </p>
    </div>
  );
}

interface ViewLineProps {
  view: View;
  isCurrent: boolean;
  address: string;
  onOpen: () => void;
  onRename: (name: string) => void;
  onDelete: () => void;
}

function ViewLine({ view, isCurrent, address, onOpen, onRename, onDelete }: ViewLineProps) {
  const [isRenaming, setIsRenaming] = useState(false);
  const name = escapeHidden(view.name);
  if (isRenaming) {
    return (
      <li className="py-1">
        <NameForm
          label="New name"
          action="Rename"
          initial={view.name}
          onName={(name) => {
            onRename(name);
            setIsRenaming(false);
          }}
        />
      </li>
    );
  }
  return (
    <li className="flex items-center">
      <button
        type="button"
        onClick={onOpen}
        aria-current={isCurrent ? 'true' : undefined}
        className="flex h-9 min-w-0 grow items-center rounded-md px-2 text-left hover:bg-sunken aria-[current=true]:font-semibold"
      >
        <CutText>{view.name}</CutText>
      </button>
      <CopyButton
        text={new URL(address, window.location.href).href}
        label={`Copy a link to ${name}`}
        icon={<LinkIcon />}
      />
      <IconButton label={`Rename ${name}`} onClick={() => setIsRenaming(true)}>
        <Pencil />
      </IconButton>
      <IconButton label={`Delete ${name}`} onClick={onDelete}>
        <Trash2 />
      </IconButton>
    </li>
  );
}

interface NameFormProps {
  label: string;
  action: string;
  initial?: string;
  onName: (name: string) => void;
}

function NameForm({ label, action, initial = '', onName }: NameFormProps) {
  const [name, setName] = useState(initial);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    onName(name.trim());
    setName('');
  };
  return (
    <form onSubmit={submit} className="flex gap-2">
      <input
        aria-label={label}
        placeholder={label}
        value={name}
        onChange={(event) => setName(event.target.value)}
        className={`${FIELD_FRAME} min-w-0 grow`}
      />
      <Button type="submit" disabled={name.trim() === ''}>
        {action}
      </Button>
    </form>
  );
}
