// Runs before `npm start` and `npm test`, so that each works alone on a fresh clone: installs what package-lock.json
// names, if it is not there yet. Needs nothing installed itself.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

// What the build tools ask for; the library itself runs wherever its engines field says.
const oldest = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  console.error(
    `steadfetch needs Node ${oldest.join('.')} or newer to be built and tested; this is ${process.version}.`,
  );
  process.exit(1);
}

if (!isInstalled()) {
  console.log('Installing the packages that package-lock.json names (npm ci)');
  process.exitCode = npmCi();
}

// By content and not by time: a checkout or an `npm install` leaves the two files' times in either order.
function isInstalled() {
  const wanted = packagesIn('package-lock.json') ?? {};
  // npm writes this one last, so an interrupted installation has none.
  const installed = packagesIn('node_modules/.package-lock.json');
  if (!installed) return false;
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (path === '' || link) return true;
    // An optional package may be for another platform.
    return installed[path] ? installed[path].version === version : optional === true;
  });
}

function packagesIn(lockfile) {
  try {
    return JSON.parse(readFileSync(`${root}/${lockfile}`, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function npmCi() {
  const options = { cwd: root, stdio: 'inherit' };
  const npm = process.env.npm_execpath;
  const { status, error } =
    npm && basename(npm) === 'npm-cli.js'
      ? spawnSync(process.execPath, [npm, 'ci'], options)
      : spawnSync('npm ci', { ...options, shell: true });
  if (error) console.error(`npm ci could not be started: ${error.message}`);
  return status ?? 1;
}
