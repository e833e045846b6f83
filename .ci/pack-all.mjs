// Packs the core, its kernel and every package beside it into a folder, and prints how another folder installs them.
// npm run pack:all [-- FOLDER]; `packed` in the clone where unsaid. The names of the tarballs have no version, so that a line of
// a page stays right.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const to = resolve(process.argv[2] ?? join(root, 'packed'));

const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
const folders = readdirSync(join(root, 'extensions')).map((name) => `extensions/${name}`);
const kernel = 'src/kernel';
const beside = [kernel, ...folders].filter((folder) => manifestOf(folder).private !== true);

const npm = (...args) =>
  execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32', // npm is a script there
  });

// Each `dist` is made anew, so that nothing of a file that is gone is packed; once for all, and not once for each package.
for (const folder of ['.', kernel, ...folders])
  rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
npm('run', '--silent', 'build');
npm('run', '--silent', 'build', '--workspace', 'extensions/create-sluice');

mkdirSync(to, { recursive: true });
const workspaces = beside.flatMap((folder) => ['--workspace', folder]);
const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', to];
const packed = [['--workspaces=false'], workspaces].flatMap((what) =>
  Object.values(JSON.parse(npm(...pack, ...what))),
);
for (const { name, filename } of packed) renameSync(join(to, filename), tarball(name));
const names = packed.map(({ name }) => name);
for (const name of names) nameTarballs(name);

const core = quoted(tarball('sluice'));
const extensions = names.filter(
  (name) => !['sluice', 'sluice-kernel', 'create-sluice'].includes(name) && !needed(name).length,
);
const adapters = names.filter((name) => name !== 'sluice' && needed(name).length > 0);
const lines = [
  `${names.length} packages are in ${to}. In another folder, this installs Sluice:`,
  '',
  `  npm install ${core}`,
  '',
  'and this Sluice with one of its packages:',
  '',
  ...extensions.map((name) => `  npm install ${core} ${quoted(tarball(name))}`),
  '',
  'This judges the agents of another framework, without a host:',
  '',
  ...adapters.map((name) => `  npm install ${quoted(tarball(name))}`),
  '',
  'This begins an extension, a channel or an agent, and `npx sluice init my-host` a host:',
  '',
  `  npx --yes --package ${quoted(tarball('create-sluice'))} create-sluice extension tea-time`,
];
process.stdout.write(`${lines.join('\n')}\n`);

/** The packages of this repository that a package depends on. */
function needed(name) {
  const [folder] = ['.', ...beside].filter((one) => manifestOf(one).name === name);
  return Object.keys(manifestOf(folder).dependencies ?? {}).filter((one) => names.includes(one));
}

/** Lets a package name the tarballs of those that it depends on, so that one path installs all: no registry has them yet. */
function nameTarballs(name) {
  if (needed(name).length === 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'));
  execFileSync('tar', ['-xzf', tarball(name), '-C', folder]);
  const file = join(folder, 'package/package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  for (const one of needed(name)) manifest.dependencies[one] = `file:${tarball(one)}`;
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  npm(
    'pack',
    '--silent',
    '--ignore-scripts',
    '--pack-destination',
    folder,
    join(folder, 'package'),
  );
  renameSync(join(folder, `${name}-${manifest.version}.tgz`), tarball(name));
  rmSync(folder, { recursive: true });
}

function tarball(name) {
  return join(to, `${name}.tgz`);
}

function quoted(path) {
  return /^[\w@./:\\-]+$/.test(path) ? path : `"${path}"`;
}
