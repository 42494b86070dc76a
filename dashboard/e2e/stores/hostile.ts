// A run in which every free text is hostile: none may be executed, and all must be shown.
import type { Evaluation, Execution, Report, Span, WorkspaceChanges } from '../../src/api/types';
import type { PlannedItem } from './plan';
import { reportOf } from './report';

/** Set if any hostile text is executed; tests assert that it is not set. */
export const CAUGHT = 'cobaltWasRun';
const RUN = `window.${CAUGHT}=1`;

const HOSTILE_NAME = `<script>${RUN}</script>\n<img src=x onerror="${RUN}">`;

/** Each is used as key, input, output and reason. */
const TEXTS = {
  script: `<script>${RUN}</script>`,
  image: `<img src=x onerror="${RUN}">`,
  svg: `<svg/onload=${RUN}>`,
  breakout: `"></textarea></script><script>${RUN}</script>`,
  link: `javascript:${RUN}`,
  markdown: `[click](javascript:${RUN}) ![x](https://example.com/beacon.png)`,
  markdownTargets: `# ${'x'.repeat(80)}
<svg onload="${RUN}"></svg><img src=x onerror="${RUN}"><a href="javascript:${RUN}">a</a>
[a](javascript:${RUN}) [b](data:text/html;base64,PHNjcmlwdD4=) [c](vbscript:x) [d](https://example.com/d "${RUN}")
<javascript:${RUN}> https://example.com/bare [![e](https://example.com/e.png)](https://example.com/e)
![f](data:image/svg+xml;base64,PHN2Zy8+) ![g](//example.com/g.png) ![h](file:///etc/passwd)

| <img src=x onerror="${RUN}"> | b |
|---|---|
| [x](javascript:${RUN}) | ![y](https://example.com/y.png) |

\`\`\`html
<script>${RUN}</script>
\`\`\``,
  dataImage:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC',
  dataSvg: `data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"/>`).toString('base64')}`,
  imagePath: '../../../etc/passwd.png',
  imageAddress: 'https://example.com/beacon.png',
  audio: '//example.com/beacon.mp3',
  data: `data:text/html,<script>${RUN}</script>`,
  template: `{{constructor.constructor('${RUN}')()}} \${${RUN}} <%= 7 * 7 %> #{7*7}`,
  remote: '<link rel=stylesheet href=https://example.com/x.css><iframe src=https://example.com></iframe>',
  style: '<style>*{display:none!important}</style>',
  rightToLeft: 'safe\u202e\u2066cod.exe\u2069 \u202dtxt',
  zeroWidth: 'a\u200b\u200d\ufeffb\u00adc',
  control: 'null\u0000 bell\u0007 escape\u001b[31mred\u001b[0m delete\u007f',
  emoji: '👩‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿 e\u0301\u0327\u0323\u0330 Z̷̡͎͝a̵l̶g̷o̸',
  longWord: 'W'.repeat(5000),
  lines: 'one\r\ntwo\rthree\u2028four\u2029five\n'.repeat(40),
  spaces: '   \t   ',
  path: '../../../../etc/passwd?x=1#y%2e%2e%2f/&a=b+c %',
  formula: '=HYPERLINK("https://example.com","click")',
  million: 'A megabyte. '.repeat(90_000),
} as const;

export function hostile(): Report[] {
  const evaluators = [TEXTS.script, '__proto__', 'constructor', TEXTS.rightToLeft].map((name) => ({ name }));
  const report = reportOf({
    name: HOSTILE_NAME,
    number: 0,
    timestamp: new Date(Date.UTC(2026, 10, 15, 12)),
    tags: [TEXTS.image, TEXTS.link, TEXTS.rightToLeft, 'W'.repeat(300), ' ', '__proto__'],
    evaluators,
    thresholds: ['constructor.avg >= 0.8'],
    file: TEXTS.path,
    dataset: TEXTS.image,
    commit: TEXTS.script,
    dirty: true,
    items: Object.entries(TEXTS).map(([kind, text], place) => itemOf(kind, text, place, evaluators)),
  });
  return [
    report,
    { ...report, id: 'ffffffffffff', timestamp: new Date(Date.UTC(2026, 10, 16, 12)).toISOString() },
  ];
}

function itemOf(kind: string, text: string, place: number, evaluators: { name: string }[]): PlannedItem {
  const isLong = text.length > 100_000;
  const key = isLong ? kind : text;
  const short = text.slice(0, 6000);
  const fields = objectOf([
    [kind, short],
    ['__proto__', { polluted: short }],
    ['constructor', short],
    ['toString', 1],
    [TEXTS.image, [short, { [short]: null }]],
  ]);
  const input = objectOf([
    ['id', key],
    ['input', text],
    ['expectedOutput', `${text} but different`],
    ['fields', fields],
    ['nested', nested(60)],
  ]);
  const run: Execution = {
    output: { output: place % 3 === 1 ? fields : text, metadata: metadataOf(short, fields) },
    latencyMs: place === 2 ? 1e12 : place,
    evaluations: objectOf(
      evaluators.map(({ name }) => [name, evaluation(place === 0 ? text : short, place)]),
    ) as Execution['evaluations'],
    status: 'ok',
    traffic: {
      replayed: place,
      live: 1,
      recordedAt: '2026-10-18T09:12:00.000Z',
      diverged: short,
      asked: [short],
    },
    transcript: {
      turns: [
        {
          message: text,
          reply: text,
          startMs: 0,
          latencyMs: place,
          toolCalls: [short],
          checks: [{ expected: short, passed: false }],
        },
        { message: short, startMs: place, latencyMs: 1, error: short },
      ],
      end: 'error',
      unplayed: [{ expected: short, passed: false }],
      simulated: true,
      mistakes: [{ turn: 1, kind: 'told-answer', reason: short }],
      unchecked: short,
      user: {
        models: [short.slice(0, 300)],
        calls: 1,
        cached: 0,
        tokens: { input: 1, output: 1 },
        cost: 0,
        unpriced: [],
      },
    },
    workspace: workspaceOf(short),
    trace: traceOf(short, fields),
    faults: [{ tool: short, call: 1, fault: short }],
  };
  const error: Execution = {
    output: { output: '' },
    latencyMs: 1,
    evaluations: {},
    status: 'error',
    error: text,
  };
  return { key, input, executions: [place % 5 === 4 ? error : run] };
}

/** Spans of every kind whose texts are this one. */
function traceOf(text: string, fields: Record<string, unknown>): Span[] {
  const kinds = ['agent', 'model', 'tool', 'retrieval', 'other'] as const;
  return kinds.map((kind, place) => ({
    id: text,
    parent: text,
    name: text,
    kind,
    startMs: place % 2 === 0 ? -1e300 : 1e300,
    durationMs: 1e300,
    status: 'error',
    error: text,
    attributes: fields,
    model: { vendor: text, asked: text, answered: `${text} `, input: text, output: text, finishReason: text },
    tool: { name: text, arguments: fields, result: text, error: text },
  }));
}

/** File names and a patch of this text; some of its lines pose as headers. */
function workspaceOf(text: string): WorkspaceChanges {
  const lines = text.split('\n');
  return {
    files: [
      { path: text, change: 'added', addedLines: 1e12, removedLines: 0, bytes: 1 },
      {
        path: `${text}/${text}`,
        change: 'changed',
        addedLines: 1,
        removedLines: 1e12,
        bytes: 1e15,
        binary: true,
      },
      { path: `__proto__/${text}`, change: 'removed', addedLines: 0, removedLines: 1, bytes: 0 },
    ],
    omittedFiles: 1e12,
    addedLines: 1e12,
    removedLines: 1e12,
    patch: [
      `diff --git a/${text} b/${text}`,
      `--- a/${text}`,
      `+++ b/${text}`,
      '@@ -1,1 +1,1 @@',
      ...['-', '+', ' ', '', '@@ ', '+++ b/', 'diff --git '].flatMap((start) =>
        lines.map((line) => `${start}${line}`),
      ),
    ].join('\n'),
    patchTruncated: true,
    kept: text,
  };
}

function metadataOf(text: string, fields: unknown) {
  return {
    model: text,
    tokens: { input: 1, output: 'many' },
    traceId: text,
    url: TEXTS.link,
    toolCalls: [{ name: text, arguments: fields, result: text }, null, 7, { name: {} }],
  };
}

function evaluation(text: string, place: number): Evaluation {
  const explanation = { reason: text, chainOfThought: text, metadata: { [text.slice(0, 100)]: text } };
  return place % 4 === 3 ? { error: text } : { score: (place % 11) / 10, ...explanation };
}

/** An object with these own fields, even with special names such as `__proto__`. */
function objectOf(entries: [string, unknown][]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, value] of entries)
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

function nested(depth: number): unknown {
  return depth === 0 ? TEXTS.script : { [`level ${depth}`]: [nested(depth - 1)] };
}
