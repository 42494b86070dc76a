// Checks that every link in the built book leads to a page and a heading that exist. Usage: node docs/book/check.mjs FOLDER

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(process.argv[2]);
const pages = readdirSync(root, { recursive: true })
    .filter((file) => file.endsWith('.html') && !/^(print|404|toc)\.html$/.test(file))
    .map((file) => join(root, file));
const html = new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]));
const ids = (page) => new Set([...html.get(page).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));

let links = 0;
const broken = [];
for (const [page, text] of html) {
    const main = text.slice(text.indexOf('<main>'), text.indexOf('</main>'));
    for (const [, link] of main.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
        if (/^(https?:|mailto:)/.test(link)) continue;
        links += 1;
        const [path, anchor] = link.split('#');
        const file = path ? resolve(dirname(page), decodeURI(path)) : page;
        const isHere = existsSync(file);
        const hasAnchor = !anchor || !html.has(file) || ids(file).has(decodeURIComponent(anchor));
        if (!isHere || !hasAnchor) broken.push(`${relative(root, page)}: ${link}`);
    }
    // A link of rustdoc that nothing resolved stays in the text, with its brackets.
    for (const [left] of main.replace(/<pre[\s\S]*?<\/pre>/g, '').matchAll(/\[<code[^>]*>[^<]*<\/code>\]/g)) {
        broken.push(`${relative(root, page)}: ${left}`);
    }
}
if (pages.length < 20 || links < 100) broken.push(`only ${pages.length} pages with ${links} links: is this the whole book?`);
if (broken.length) {
    console.error(`broken links in the book:\n${broken.join('\n')}`);
    process.exit(1);
}
console.log(`${pages.length} pages, ${links} links`);
