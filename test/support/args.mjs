import { parseArgs } from 'node:util';

/**
 * What a command of this project is given: whole numbers by their names, with what they are unless given and `most` they may be;
 * flags; and any of `names`, if there are some to choose from. Anything else is an error that names it, and what there is instead.
 */
export function readArgs(args, { numbers = {}, most = {}, flags = [], names = [] } = {}) {
  const options = Object.fromEntries([
    ...Object.keys(numbers).map((name) => [name, { type: 'string' }]),
    ...flags.map((name) => [name, { type: 'boolean' }]),
  ]);
  const read = { ...numbers, ...Object.fromEntries(flags.map((flag) => [flag, false])), named: [] };
  for (const token of parseArgs({ args, options, strict: false, tokens: true }).tokens) {
    if (token.kind === 'positional') {
      if (!names.includes(token.value)) throw new Error(`there is no ${token.value}; ${remedy()}`);
      read.named.push(token.value);
    } else if (token.kind === 'option') {
      const { name, rawName, value } = token;
      if (Object.hasOwn(numbers, name)) read[name] = wholeNumber(rawName, value, most[name]);
      else if (!flags.includes(name)) throw new Error(`unknown option ${rawName}; ${remedy()}`);
      else if (value !== undefined) throw new Error(`${rawName} has the value ${value}; it takes none`);
      else read[name] = true;
    }
  }
  return read;

  function remedy() {
    const all = [...Object.keys(numbers).map((name) => `--${name} N`), ...flags.map((flag) => `--${flag}`), ...names];
    return all.length > 0 ? `use ${all.join(', ')}` : 'it takes nothing';
  }
}

function wholeNumber(rawName, value, most = Number.MAX_SAFE_INTEGER) {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? 'from 1' : `from 1 to ${most}`;
  throw new Error(`${rawName} ${value === undefined ? 'has no value' : `is ${value}`}; give a whole number ${range}`);
}

/** The arguments of this process: where they are wrong one line says so, and it ends. */
export function ownArgs(command, expected) {
  try {
    return readArgs(process.argv.slice(2), expected);
  } catch (error) {
    console.error(`${command}: ${error.message}`);
    process.exit(1);
  }
}
