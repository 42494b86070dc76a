// The conditions that the items meet: one that is added, and those that apply.
import { ListFilter, X } from 'lucide-react';
import { type FormEvent, useEffect, useId, useState } from 'react';
import type { ItemField } from '../../../api/types';
import { Button } from '../../../components/button';
import { FIELD_FRAME } from '../../../components/field';
import { Popover } from '../../../components/popover';
import { Select } from '../../../components/select';
import { escapeHidden } from '../../../lib/texts';
import { conditionText, describeCondition, type Operator, operatorsOf, parseCondition } from './condition';

interface AddConditionProps {
  fields: ItemField[];
  /** The column of the condition; undefined while the form is closed. */
  column: string | undefined;
  onColumn: (column: string | undefined) => void;
  onAdd: (condition: string) => void;
}

export function AddCondition({ fields, column, onColumn, onAdd }: AddConditionProps) {
  return (
    <Popover
      label="Add a filter"
      isOpen={column !== undefined}
      onOpenChange={(isOpen) => onColumn(isOpen ? (fields[0]?.name ?? '') : undefined)}
      trigger={
        <Button>
          <ListFilter aria-hidden="true" />
          Filter
        </Button>
      }
    >
      {column !== undefined && (
        <ConditionForm
          fields={fields}
          column={column}
          onColumn={onColumn}
          onAdd={(condition) => {
            onAdd(condition);
            onColumn(undefined);
          }}
        />
      )}
    </Popover>
  );
}

type ConditionFormProps = AddConditionProps & { column: string };

function ConditionForm({ fields, column, onColumn, onAdd }: ConditionFormProps) {
  const field = fields.find(({ name }) => name === column) ?? fields[0];
  const operators = operatorsOf(field?.type ?? 'text');
  const [operator, setOperator] = useState<Operator>();
  const [value, setValue] = useState('');
  const suggestions = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another column has other operators and values
  useEffect(() => {
    setOperator(undefined);
    setValue('');
  }, [column]);
  const selected = operator ?? operators[0]?.value ?? '=';
  const values = field?.type === 'boolean' ? ['true', 'false'] : (field?.values ?? []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (field !== undefined && value !== '')
      onAdd(conditionText({ column: field.name, operator: selected, value }));
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2">
      <Select
        label="Column"
        value={field?.name ?? ''}
        options={fields.map(({ name, label }) => ({ value: name, name: escapeHidden(label) }))}
        onChange={onColumn}
        className="max-w-56"
      />
      <Select label="Operator" value={selected} options={operators} onChange={setOperator} />
      <label>
        <span className="sr-only">Value</span>
        <input
          value={value}
          onChange={(event) => setValue(event.target.value)}
          type={field?.type === 'number' ? 'number' : 'text'}
          step="any"
          list={values.length > 0 ? suggestions : undefined}
          placeholder="Value"
          className={`${FIELD_FRAME} w-44`}
        />
      </label>
      <datalist id={suggestions}>
        {values.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <Button type="submit" look="main" disabled={value === ''}>
        Add
      </Button>
    </form>
  );
}

interface ConditionListProps {
  where: string[];
  fields: ItemField[];
  onRemove: (condition: string) => void;
}

/** The conditions that apply; a click removes one. */
export function ConditionList({ where, fields, onRemove }: ConditionListProps) {
  return (
    <ul aria-label="Filters" className="contents">
      {where.map((text) => {
        const condition = parseCondition(
          text,
          fields.map(({ name }) => name),
        );
        const label = fields.find(({ name }) => name === condition?.column)?.label ?? condition?.column ?? '';
        const shown = escapeHidden(condition === undefined ? text : describeCondition(condition, label));
        return (
          <li key={text} className="min-w-0 max-w-full">
            <button
              type="button"
              onClick={() => onRemove(text)}
              title={shown}
              className="inline-flex h-8 max-w-72 items-center gap-1.5 rounded-full border border-accent bg-accent-soft px-3 text-accent text-xs"
            >
              <span className="sr-only">Remove filter: </span>
              <span className="truncate">{shown}</span>
              <X className="size-3.5 shrink-0" aria-hidden="true" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
