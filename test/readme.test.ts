import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { snippetsIn } from './docs/markdown.ts';
import { PAGES, readPage } from './docs/pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('every snippet of the README and the other pages compiles against the package', () => {
  const snippets = PAGES.flatMap((path) => snippetsIn(readPage(path)).map((snippet) => ({ path, ...snippet })));
  expect(snippets.filter(({ path }) => path === 'README.md').length).toBeGreaterThanOrEqual(3);
  // Named by where they stand, and modules all, also those that import nothing.
  const files = new Map(
    snippets.map(({ path, line, code }) => [
      `${root}test/snippet-${path.replaceAll('/', '-')}-${line}.ts`,
      `${code}\nexport {};\n`,
    ]),
  );
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    paths: {
      steadfetch: [`${root}src/page/index.ts`],
      'steadfetch/*': [`${root}src/*/index.ts`],
    },
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, target, ...rest) => {
    const code = files.get(path);
    return code === undefined ? getSourceFile(path, target, ...rest) : ts.createSourceFile(path, code, target);
  };
  // One program for all: what they import is read and checked once.
  const program = ts.createProgram([...files.keys()], options, host);
  const problems = [...files.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${path.slice(root.length)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
  });
  expect(problems).toEqual([]);
}, 60_000);
