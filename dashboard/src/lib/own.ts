// Looks a name up that may be anything, such as `constructor`, among those that a record really has.

export const own = <Value>(record: Record<string, Value> | undefined, name: string): Value | undefined =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
