// The demo's agent that extracts JSON from invoices, with five trials per item, since it is not deterministic.
import type { Execution } from '../../../src/api/types';
import { digits, Random, rounded } from '../random';
import {
  type Attempt,
  answered,
  failed,
  type Scenario,
  type Subject,
  traceId,
  withRegression,
} from './scenario';

interface Invoice {
  vendor: string;
  invoiceNumber: string;
  issuedOn: string;
  currency: string;
  lines: { description: string; quantity: number; unitPrice: number }[];
  total: number;
}

const VENDORS = [
  'Bergmann Papier GmbH',
  'Okafor & Daughters Ltd',
  'Ateliers Rochefort SARL',
  'Lumen Print Co.',
  'Viento Norte S.A.',
  'Sato Instruments',
] as const;
const GOODS = [
  'Copy paper A4, 80 g',
  'Toner, black',
  'Desk lamp',
  'Standing desk',
  'Cable tray',
  'Whiteboard 120 × 90',
  'Label rolls',
  'Courier service',
] as const;
const CURRENCIES = ['EUR', 'EUR', 'GBP', 'USD', 'JPY'] as const;

function invoice(number: number): Invoice {
  const random = new Random(`invoice ${number}`);
  const lines = Array.from({ length: random.whole(1, 4) }, () => ({
    description: random.pick(GOODS),
    quantity: random.whole(1, 12),
    unitPrice: rounded(random.logNormal(38, 0.9), 2),
  }));
  const total = lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0);
  return {
    vendor: random.pick(VENDORS),
    invoiceNumber: `${2026}-${String(random.whole(100, 99_999)).padStart(5, '0')}`,
    issuedOn: `2026-${String(random.whole(1, 10)).padStart(2, '0')}-${String(random.whole(1, 28)).padStart(2, '0')}`,
    currency: random.pick(CURRENCIES),
    lines,
    total: rounded(total, 2),
  };
}

/** The scanned text of an invoice. */
function page({ vendor, invoiceNumber, issuedOn, currency, lines, total }: Invoice): string {
  const rows = lines.map((line) => `${line.description}    ${line.quantity} x ${line.unitPrice.toFixed(2)}`);
  return [
    vendor,
    '',
    `Invoice no. ${invoiceNumber}`,
    `Date: ${issuedOn}`,
    '',
    ...rows,
    '',
    `Total ${currency} ${total.toFixed(2)}`,
    'Payable within 30 days.',
  ].join('\n');
}

const invoices = new Map<string, Invoice>();
const subjects: Subject[] = Array.from({ length: 24 }, (_, number) => {
  const key = `invoice-${String(number + 1).padStart(2, '0')}`;
  const expected = invoice(number);
  invoices.set(key, expected);
  const document = {
    pages: 1,
    language: number % 4 === 0 ? 'de' : 'en',
    scan: `scans/${digits(key, 8)}.png`,
    text: page(expected),
  };
  return { key, input: { id: key, document, schema: 'invoice/v2', expectedOutput: expected } };
});

/** Introduces extraction errors; the lower the grade, the more. */
function misread(expected: Invoice, grade: number, random: Random): Partial<Record<keyof Invoice, unknown>> {
  const slip = (at: number) => grade < at && random.chance(0.75);
  return {
    ...expected,
    ...(slip(0.75) && { issuedOn: expected.issuedOn.split('-').reverse().join('-') }),
    ...(slip(0.65) && { lines: expected.lines.slice(0, -1) }),
    ...(slip(0.5) && { total: rounded(expected.total * 1.19, 2) }),
    ...(slip(0.42) && { vendor: expected.vendor.toUpperCase() }),
    ...(slip(0.3) && { currency: null }),
  };
}

function execute({ subject, grade, random }: Attempt): Execution {
  const expected = invoices.get(subject.key);
  if (!expected) throw new Error(`no such item: ${subject.key}`);
  if (random.chance(0.0015))
    return failed(
      'error',
      'expected `,` or `}` at line 14 column 3 of the model’s answer',
      random.logNormal(3100, 0.2),
    );
  const output = misread(expected, grade, random);
  const fields = Object.keys(expected) as (keyof Invoice)[];
  const wrong = fields.filter((field) => JSON.stringify(output[field]) !== JSON.stringify(expected[field]));
  const call = {
    name: 'read_page',
    arguments: { scan: subject.key, dpi: 300 },
    result: { characters: page(expected).length },
  };
  const sums = { name: 'add_up', arguments: { lines: expected.lines.length }, result: expected.total };
  const run = answered(output, random.logNormal(2600, 0.35), {
    model: 'gpt-5.4-nano',
    tokens: { input: random.whole(700, 1100), output: random.whole(140, 320) },
    traceId: traceId(random),
    toolCalls: random.chance(0.7) ? [call, sums] : [call],
    attempt: 1,
  });
  run.evaluations = {
    fields: {
      score: rounded(1 - wrong.length / fields.length, 4),
      reason: wrong.length === 0 ? `all ${fields.length} fields agree` : `differ: ${wrong.join(', ')}`,
      metadata: { fields: fields.length, wrong },
    },
    total: {
      score: wrong.includes('total') ? 0 : 1,
      reason: `expected ${expected.total}, found ${String(output.total)}`,
    },
    schema: {
      score: output.currency === null ? 0 : 1,
      ...(output.currency === null && { reason: '/currency: expected string, found null' }),
    },
  };
  return run;
}

export const extraction: Scenario = {
  name: 'invoice-extraction',
  nights: 16,
  runs: 5,
  subjects,
  evaluators: [{ name: 'fields', passMark: 0.8 }, { name: 'total' }, { name: 'schema' }],
  thresholds: [
    'fields.avg >= 0.9',
    'total.pass_rate >= 0.95',
    'schema.pass_rate >= 0.99',
    'vs_baseline.fields.drop <= 0.02',
  ],
  dataset: 'datasets/invoices.json',
  file: 'tests/extraction.rs',
  quality: withRegression(0.84, 0.97, { after: 0.3, until: 0.42, by: 0.2 }),
  execute,
};
