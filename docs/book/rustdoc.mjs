// Turns Markdown that is written for rustdoc into Markdown for mdBook: links to modules become links to pages, links to types become
// plain code, blocks of code without a language are Rust, and headings go one level down below the title of the page.
//
// mdBook calls it with `supports RENDERER`, or sends `[context, book]` as JSON on stdin and reads the book from stdout.

import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** Modules of the library that are pages of this book. */
const PAGES = {
    calls: 'reference/calls.md',
    catalogue: 'reference/catalogue.md',
    configuration: 'reference/configuration.md',
    conversations: 'reference/conversations.md',
    custom: 'reference/custom.md',
    dataset: 'reference/datasets.md',
    datasets: 'reference/datasets.md',
    evaluator: 'reference/evaluator.md',
    events: 'reference/events.md',
    experiment: 'reference/experiment.md',
    files: 'reference/files.md',
    judges: 'reference/judges.md',
    opentelemetry: 'reference/opentelemetry.md',
    recording: 'reference/recording.md',
    report: 'reference/report.md',
    'report::comparison': 'reference/comparison.md',
    rescoring: 'reference/rescoring.md',
    sharding: 'reference/shards.md',
    summary: 'reference/summary.md',
    text: 'reference/text.md',
    tools: 'reference/tools.md',
    trace: 'reference/traces.md',
    variants: 'reference/variants.md',
    webhooks: 'reference/webhooks.md',
    workspaces: 'reference/workspaces.md',
};

/** Modules and functions of the library that have no page: their documentation is in the code. */
const WITHOUT_PAGE = ['llm', 'main', 'metrics', 'template'];

/** Files of the repository that are pages of this book under another path. */
const FILES = {
    '../README.md': 'README.md',
    '../cobalt/docs/comparison.md': 'reference/comparison.md',
    '../cobalt/docs/overview.md': 'reference/library.md',
};

/** Info strings of rustdoc: what it does with a block of Rust. */
const RUSTDOC = /^(|rust|no_run|ignore|compile_fail|should_panic|edition\d+)(,|$)/;

/** The page that a path of rustdoc names, such as `crate::configuration` or `macro@crate::evaluator`. */
function page(path) {
    return PAGES[path.replace(/^(macro|mod|fn|struct|trait)@/, '').replace(/^(crate|cobalt)::/, '').replace(/\(\)$|!$/, '')];
}

/**
 * Whether a path of rustdoc, such as `crate::workspace`, is neither a page nor known to have none: its page is missing in `PAGES`. Types
 * start with an upper-case letter, and what a module contains is no page.
 */
function isUnknown(path) {
    const [, name] = path.match(/^(?:mod@)?(?:crate|cobalt)::([a-z]\w*)(?![\w!(])/) ?? [];
    return name !== undefined && !Object.hasOwn(PAGES, name) && !WITHOUT_PAGE.includes(name);
}

/** The target of a link as seen from a chapter, or `undefined` if it names a type. */
function target(link, chapter) {
    if (/^(https?:|mailto:|#)/.test(link)) return link;
    const [path, anchor] = link.split('#');
    const suffix = anchor === undefined ? '' : `#${anchor}`;
    const from = posix.dirname(chapter);
    const known = page(path);
    if (known) return posix.relative(from, known) + suffix;
    if (isUnknown(path)) throw new Error(`${chapter}: \`${path}\` is not in PAGES of docs/book/rustdoc.mjs`);
    if (/::|@/.test(path) || !/[./]/.test(path)) return undefined;
    const file = posix.normalize(posix.join(from, path));
    const mapped = FILES[file] ?? file.replace(/^\.\.\/cobalt\/docs\//, 'reference/');
    return posix.relative(from, mapped) + suffix;
}

/** Prose, with its links resolved. */
function prose(text, chapter, definitions) {
    return text
        .replace(/(?<!!)\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^()\s]+)\)/g, (whole, label, link) => {
            const to = target(link, chapter);
            return to === undefined ? label : `[${label}](${to})`;
        })
        .replace(/\[(`[^`]+`)\](?![([])/g, (whole, label) => {
            const link = definitions.get(label) ?? label.slice(1, -1);
            const to = target(link, chapter);
            return to === undefined ? label : `[${label}](${to})`;
        });
}

/** A chapter for mdBook. */
function convert(content, chapter) {
    const definitions = new Map();
    const lines = [];
    let block; // The language of the block of code that the line is in.
    for (const line of content.split('\n')) {
        const fence = line.match(/^(\s*)```(.*)$/);
        const definition = block === undefined && line.match(/^\[(`[^`]+`)\]: (\S+)$/);
        if (fence) {
            const isRust = block === undefined && RUSTDOC.test(fence[2]);
            lines.push({ text: isRust ? `${fence[1]}\`\`\`rust` : line });
            block = block === undefined ? (isRust ? 'rust' : fence[2]) : undefined;
        } else if (definition) {
            definitions.set(definition[1], definition[2]);
        } else if (block !== undefined) {
            // Hidden lines of a program in rustdoc.
            if (block !== 'rust' || !/^\s*#( |$)/.test(line)) lines.push({ text: line });
        } else {
            lines.push({ text: line, isProse: true });
        }
    }
    // Links may span lines, so lines of prose that follow each other are one text.
    const texts = [];
    let isTitle = chapter.startsWith('reference/');
    let shift = '';
    for (const { text, isProse } of lines) {
        const last = texts.at(-1);
        const isHeading = isProse && /^#+ /.test(text);
        const line = isHeading ? shift + text : text;
        if (isHeading && isTitle) [isTitle, shift] = [false, '#'];
        if (last && last.isProse === Boolean(isProse)) last.lines.push(line);
        else texts.push({ isProse: Boolean(isProse), lines: [line] });
    }
    return texts
        .map(({ isProse, lines: group }) => (isProse ? prose(group.join('\n'), chapter, definitions) : group.join('\n')))
        .join('\n');
}

function walk(sections) {
    for (const { Chapter: chapter } of sections) {
        if (!chapter) continue;
        if (chapter.path) chapter.content = convert(chapter.content, chapter.path);
        walk(chapter.sub_items);
    }
}

if (process.argv[2] !== 'supports') {
    const [, book] = JSON.parse(readFileSync(0, 'utf8'));
    walk(book.items ?? book.sections);
    process.stdout.write(JSON.stringify(book));
}
