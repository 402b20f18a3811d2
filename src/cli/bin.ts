#!/usr/bin/env node
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './main.js';

process.exitCode = main(process.argv.slice(2), {
  cwd: process.cwd(),
  builds: dirname(fileURLToPath(import.meta.url)),
  print: console.log,
  complain: console.error,
});
