import { describe, expect, test } from 'vitest';
import { conditionText, describeCondition, parseCondition } from './condition';
import { isRangeShown, nextSort, parseFilter, rangeConditions, toggleRange } from './filter';

describe('a condition', () => {
  test('has a column, an operator and a value', () => {
    expect(parseCondition('latency>=500')).toEqual({ column: 'latency', operator: '>=', value: '500' });
    expect(parseCondition('input.topic!=a=b')).toEqual({
      column: 'input.topic',
      operator: '!=',
      value: 'a=b',
    });
    expect(parseCondition('tool~look')).toEqual({ column: 'tool', operator: '~', value: 'look' });
    expect(parseCondition('latency')).toBeUndefined();
  });

  test('has the longest known column, which may contain operators', () => {
    const parsed = (text: string) => parseCondition(text, ['score.a', 'score.a>=b']);
    expect(parsed('score.a>=b<0.5')).toEqual({ column: 'score.a>=b', operator: '<', value: '0.5' });
    expect(parsed('score.a>=0.5')).toEqual({ column: 'score.a', operator: '>=', value: '0.5' });
    expect(parsed('score.a')).toBeUndefined();
  });

  test('is written as it was parsed, and in words', () => {
    const condition = parseCondition('cost<0.01');
    if (condition === undefined) throw new Error('expected a condition');
    expect(conditionText(condition)).toBe('cost<0.01');
    expect(describeCondition(condition, 'Agent cost')).toBe('Agent cost below 0.01');
  });
});

describe('the filter', () => {
  test('has the parameters of the URL, without invalid ones', () => {
    const search = new URLSearchParams(
      'state=nope&order=up&where=latency>5&where=broken&where=tool=x&columns=key,cost,expected,input.a&only=regressed',
    );
    expect(parseFilter(search)).toEqual({ where: ['latency>5', 'tool=x'], columns: 'expected,input.a' });
    const odd = new URLSearchParams({ columns: 'key,input.a%2Cb,metadata.50%25' });
    expect(parseFilter(odd).columns).toBe('input.a%2Cb,metadata.50%25');
  });

  test('compares with other runs, of which only the changed items', () => {
    const search = new URLSearchParams('compare=abc,def&only=regressed');
    expect(parseFilter(search)).toMatchObject({ compare: 'abc,def', only: 'regressed' });
  });
});

test('a third click on a column restores the order of the dataset', () => {
  expect(nextSort('cost', {})).toStrictEqual({ sort: 'cost', order: undefined });
  expect(nextSort('cost', { sort: 'cost' })).toEqual({ sort: 'cost', order: 'desc' });
  expect(nextSort('cost', { sort: 'cost', order: 'desc' })).toStrictEqual({
    sort: undefined,
    order: undefined,
  });
});

test('a bin excludes its upper bound, except the last', () => {
  expect(rangeConditions('a.b', { low: 0.1, high: 0.2 })).toEqual(['score.a.b>=0.1', 'score.a.b<0.2']);
  expect(rangeConditions('a', { low: 0.9, high: 1 })).toEqual(['score.a>=0.9']);
  expect(rangeConditions('a', { low: 0, high: 0.1 })).toEqual(['score.a<0.1']);
});

test('a bin replaces another of the same evaluator only', () => {
  const where = ['score.a>=0.9', 'score.b>=0.9', 'latency>5'];
  const low = { low: 0, high: 0.1 };
  expect(toggleRange({ where }, 'a', low)).toEqual({ where: ['score.b>=0.9', 'latency>5', 'score.a<0.1'] });
  expect(isRangeShown({ where }, 'a', { low: 0.9, high: 1 })).toBe(true);
  expect(isRangeShown({ where }, 'a', low)).toBe(false);
});
