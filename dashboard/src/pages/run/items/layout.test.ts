import { expect, test } from 'vitest';
import { columnsText, isField, moveColumn, parseColumns, parseWidths, widthsText } from './layout';

const search = (parameters: Record<string, string>) => new URLSearchParams(parameters);

test('columns and widths of any name survive in the URL', () => {
  const ids = ['key', 'score.a,b', 'input.x:y', 'metadata.100%'];
  expect(parseColumns(search({ columns: columnsText(ids) }))).toEqual(ids);
  const widths = { 'score.a,b': 120, 'input.x:y': 300 };
  expect(parseWidths(search({ widths: widthsText(widths) }))).toEqual(widths);
});

test('the column of the links is always shown, and none twice', () => {
  expect(parseColumns(search({ columns: 'status,cost,status' }))).toEqual(['key', 'status', 'cost']);
  expect(parseColumns(search({}))).toBeUndefined();
});

test('invalid widths are ignored', () => {
  expect(parseWidths(search({ widths: 'cost:9999,status:x,%E0:80,key:200' }))).toEqual({
    '%E0': 80,
    key: 200,
  });
});

test('a column moves to the place of another', () => {
  expect(moveColumn(['a', 'b', 'c', 'd'], 'a', 'c')).toEqual(['b', 'c', 'a', 'd']);
  expect(moveColumn(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['a', 'd', 'b', 'c']);
  expect(moveColumn(['a', 'b'], 'x', 'b')).toEqual(['a', 'b']);
});

test('the values of fields are requested, those of other columns are there', () => {
  expect(['expected', 'input.a', 'metric.b', 'turns'].every(isField)).toBe(true);
  expect(['key', 'input', 'score.a', 'latency'].some(isField)).toBe(false);
});
