import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** `test/`, whatever folder the tests are run from. */
const TESTS = new URL('../', import.meta.url);

/** These name ids to count them, and show none. */
const COUNTERS = ['peer-by-hand.test.ts', 'table.test.ts', 'named.test.ts'];

/** The names of the tests of each file that run and have to pass, by its path under `test/`. */
function readTests(): ReadonlyMap<string, string> {
  const paths = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(?:test|spec)\.ts$/.test(path) && !COUNTERS.some((name) => path.endsWith(name)));
  return new Map(paths.sort().map((path) => [path, namesIn(readFileSync(new URL(path, TESTS), 'utf8')).join('\n')]));
}

/** Finds the test files in which a case is named: `row 5`, `B001`, `ky-014`. */
export function createFinder(): (id: string) => readonly string[] {
  const tests = [...readTests()];
  return (id) => {
    const named = new RegExp(`\\b${id}\\b`);
    return tests.flatMap(([path, names]) => (named.test(names) ? [path] : []));
  };
}

/**
 * What the tests of a file are called, each with its groups and with the rows or lists that it is made from. Of those
 * that do not run, or are to fail, nothing: what only they mention is not shown.
 */
export function namesIn(source: string): readonly string[] {
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true);
  const constants = constantsOf(file);
  const names: string[] = [];
  const visit = (node: ts.Node, around: readonly string[]): void => {
    if (ts.isForOfStatement(node)) {
      visit(node.statement, [...around, textsIn(node.expression, constants)]);
      return;
    }
    const made = ts.isCallExpression(node) ? maker(node) : undefined;
    if (made === undefined || !ts.isCallExpression(node)) {
      ts.forEachChild(node, (child) => visit(child, around));
      return;
    }
    if (made.modifiers.some((modifier) => NOT_SHOWN.includes(modifier))) return;
    const [title, ...rest] = node.arguments;
    // Not one of its own: `test.skip()` and its like in the body of another.
    if (title === undefined) return;
    const name = [...around, ...made.tables.map((table) => textsIn(table, constants)), textsIn(title, constants)];
    if (made.of === 'describe') for (const child of rest) visit(child, name);
    else if (!rest.some(givesUp)) names.push(name.join(' '));
  };
  visit(file, []);
  return names;
}

const NOT_SHOWN = ['skip', 'skipIf', 'runIf', 'fail', 'fails', 'fixme', 'todo'];

interface Maker {
  readonly of: 'test' | 'describe';
  readonly modifiers: readonly string[];
  /** What is given to `each` or `for`. */
  readonly tables: readonly ts.Expression[];
}

/** `test`, `test.skip`, `describe.each(rows)` and so on, if that is what is called. */
function maker({ expression }: ts.CallExpression): Maker | undefined {
  const modifiers: string[] = [];
  const tables: ts.Expression[] = [];
  let callee: ts.Expression = expression;
  for (;;) {
    if (ts.isPropertyAccessExpression(callee)) {
      modifiers.push(callee.name.text);
      callee = callee.expression;
    } else if (ts.isCallExpression(callee)) {
      tables.push(...callee.arguments);
      callee = callee.expression;
    } else break;
  }
  if (!ts.isIdentifier(callee)) return undefined;
  if (callee.text === 'describe' || modifiers.includes('describe')) return { of: 'describe', modifiers, tables };
  const isTest = callee.text === 'test' || callee.text === 'it';
  return isTest && !modifiers.some((name) => ANOTHER.test(name)) ? { of: 'test', modifiers, tables } : undefined;
}

/** What is called by the same name and makes no test. */
const ANOTHER = /^(?:before|after|use$|step$|extend$|info$|setTimeout$|slow$)/;

/** Does its body say, at its start or somewhere in it, that it is skipped or has to fail? */
function givesUp(body: ts.Node): boolean {
  if (ts.isCallExpression(body)) {
    const { expression } = body;
    if (ts.isIdentifier(expression) && expression.text === 'skip') return true;
    if (ts.isPropertyAccessExpression(expression) && NOT_SHOWN.includes(expression.name.text)) {
      const { expression: of } = expression;
      if (ts.isIdentifier(of) && OF_A_TEST.includes(of.text)) return true;
    }
  }
  return ts.forEachChild(body, (child) => givesUp(child) || undefined) ?? false;
}

const OF_A_TEST = ['test', 'it', 'context', 'ctx', 'task'];

/** What is written down by a name, at whatever place of the file. */
function constantsOf(file: ts.SourceFile): ReadonlyMap<string, ts.Expression> {
  const found = new Map<string, ts.Expression>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      if (!ts.isFunctionLike(node.initializer)) found.set(node.name.text, node.initializer);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** All texts of an expression, and of the constants that it takes; the functions in it are no part of a name. */
function textsIn(expression: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string {
  const seen = new Set<ts.Expression>();
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      texts.push(node.text);
    }
    const constant = ts.isIdentifier(node) ? constants.get(node.text) : undefined;
    if (constant !== undefined && !seen.has(constant)) {
      seen.add(constant);
      visit(constant);
    }
    ts.forEachChild(node, visit);
  };
  visit(expression);
  return texts.join(' ');
}
