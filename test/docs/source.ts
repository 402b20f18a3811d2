import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** One member of an interface, as its source has it. */
export interface Member {
  readonly name: string;
  /** As it is written, in one line. */
  readonly type: string;
  readonly optional: boolean;
  /** What its comment says, without tags. */
  readonly says: string;
  /** What its `@defaultValue` says, if it has one. */
  readonly byDefault?: string;
}

const files = new Map<string, ts.SourceFile>();

function sourceOf(path: string): ts.SourceFile {
  const known = files.get(path);
  if (known) return known;
  const url = new URL(`../../src/${path}`, import.meta.url);
  const source = ts.createSourceFile(path, readFileSync(url, 'utf8'), ts.ScriptTarget.ES2023, true);
  files.set(path, source);
  return source;
}

/** The statement that declares a type. */
function declarationOf(path: string, name: string): ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  const found = sourceOf(path).statements.find(
    (statement) =>
      (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) && statement.name.text === name,
  );
  if (found === undefined) throw new Error(`src/${path} declares no type ${name}`);
  return found as ts.InterfaceDeclaration | ts.TypeAliasDeclaration;
}

/** What is declared in an interface itself, or in the literals of a type that is put together. */
export function membersOf(path: string, name: string): readonly Member[] {
  const declaration = declarationOf(path, name);
  const members = ts.isInterfaceDeclaration(declaration) ? [...declaration.members] : inLiterals(declaration.type);
  return members.filter(ts.isPropertySignature).map((member) => {
    const byDefault = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'defaultValue')?.comment;
    return {
      name: member.name.getText(),
      type: inLine(member.type?.getText() ?? ''),
      optional: member.questionToken !== undefined,
      says: commentOf(member),
      ...(byDefault === undefined ? {} : { byDefault: unlinked(ts.getTextOfJSDocComment(byDefault) ?? '') }),
    };
  });
}

const inLiterals = (type: ts.TypeNode): ts.TypeElement[] => {
  if (ts.isTypeLiteralNode(type)) return [...type.members];
  return ts.isIntersectionTypeNode(type) ? type.types.flatMap(inLiterals) : [];
};

/** What the comment of a type says. */
export const saysOf = (path: string, name: string): string => commentOf(declarationOf(path, name));

/** The interfaces of a file, by name. */
export const interfacesOf = (path: string): readonly string[] =>
  sourceOf(path)
    .statements.filter(ts.isInterfaceDeclaration)
    .map(({ name }) => name.text);

/** The names of the interfaces that one extends. */
export function basesOf(path: string, name: string): readonly string[] {
  const declaration = declarationOf(path, name);
  if (!ts.isInterfaceDeclaration(declaration)) return [];
  return (declaration.heritageClauses ?? []).flatMap(({ types }) =>
    types.map(({ expression }) => expression.getText()),
  );
}

/** The texts that a type allows: of an alias, or of a member (`Interface.member`). */
export function literalsOf(path: string, name: string): readonly string[] {
  const [of = '', member] = name.split('.');
  const type = member ? memberType(path, of, member) : (declarationOf(path, of) as ts.TypeAliasDeclaration).type;
  return (ts.isUnionTypeNode(type) ? [...type.types] : [type]).flatMap((one) =>
    ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal) ? [one.literal.text] : [],
  );
}

function memberType(path: string, of: string, name: string): ts.TypeNode {
  const { members } = declarationOf(path, of) as ts.InterfaceDeclaration;
  const found = members.find((one) => one.name?.getText() === name);
  if (!found || !ts.isPropertySignature(found) || !found.type) throw new Error(`${of} has no member ${name}`);
  return found.type;
}

function commentOf(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).slice(-1);
  return unlinked(ts.getTextOfJSDocComment(comment?.comment) ?? '');
}

/** A link to another name of the code is that name. */
const unlinked = (text: string): string => inLine(text.replace(/\{@link (\w+)\}/g, '`$1`'));

const inLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
