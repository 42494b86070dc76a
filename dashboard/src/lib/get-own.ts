// Reads an own property. The name may be anything, such as `constructor`.

export const getOwn = <Value>(record: Record<string, Value> | undefined, name: string): Value | undefined =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
