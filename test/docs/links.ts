import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { anchorsOf, linksOf } from './markdown.ts';

/** The links of a page that lead nowhere, each with the reason. `path` is from the root of the repository. */
export function deadLinks(path: string, page: string): readonly string[] {
  const here = new URL(`../../${path}`, import.meta.url);
  return linksOf(page).flatMap((target) => {
    if (/^https?:/.test(target)) return [];
    const to = new URL(target, here);
    const anchor = decodeURIComponent(to.hash.slice(1));
    to.hash = '';
    const file = fileURLToPath(to);
    if (!existsSync(file)) return [`${path}: ${target} is not there`];
    if (anchor === '') return [];
    if (statSync(file).isDirectory() || !file.endsWith('.md')) return [`${path}: ${target} has no headings`];
    const there = to.href === here.href ? page : readFileSync(file, 'utf8');
    return anchorsOf(there).has(anchor) ? [] : [`${path}: ${target} has no such heading`];
  });
}
