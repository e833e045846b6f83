import type { ShellWord } from './words.js';

/** Programs by what they do with their words. A program that is in no list runs no other, as far as its words show none. */

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Their words are data. */
export const plain = names(
  'echo printf grep egrep fgrep rg ag ack gh info which type whereis whatis apropos help tldr cat ls jq : true false logger basename dirname rm cp mv mkdir touch head tail wc sort uniq cut tr diff cd pwd curl wget',
);

/** Shells whose language is read here. */
export const shells = names('sh bash dash ash zsh ksh mksh yash rbash');

/** They give a new meaning to what follows, or run what is typed into them. */
export const closing = names(
  'alias hash enable bind complete compgen fc vi vim nvim view ex ed emacs gdb lldb expect',
);

/** They run what their words or their input say, in a way of their own: what is not known of them closes. */
export const remote = names(
  'ssh su script watch parallel docker podman nerdctl kubectl tmux screen flock systemd-run nix-shell at batch crontab entr mapfile readarray chroot unshare nsenter runuser',
);

/** Settings of git that run nothing. */
export const quietSetting =
  /^(user|color|advice|init|safe|http|protocol|core\.(quotepath|autocrlf|longpaths))\b/i;

/** Flags of programs of data, and an address of git, that run commands. */
export const launching =
  /^(--(pre|hostname-bin|open-files|upload-pack|receive-pack|exec|compress-program|use-askpass)|-O|ext::)/;

/** Flags of git before its word that run nothing. */
export const quietFlag =
  /^(-p|-P|--(no-pager|paginate|bare|version|help|git-dir=.*|work-tree=.*))$/;

/** Words of git that run commands. */
export const running = names('bisect submodule filter-branch rebase difftool mergetool config');

/** Programs of other languages, which are not read: code in their words or their input is unknown. */
export const interpreter =
  /^(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|osascript|pwsh|powershell|r|rscript|guile|irb|runghc|julia|groovy|scala|jshell|fish|csh|tcsh|elvish|nu|xonsh|cmd)[\d.]*$/;

/** Flags of an interpreter that bring no code. */
export const harmless = /^(-[uBOISEqvV]+|-h|--(version|help|test|watch|check))$/;

/** Variables whose value is run as a command. */
export const runVariable = /(PAGER|EDITOR|VISUAL|BROWSER|_SSH|_COMMAND|_DIFF|LESSOPEN|LESSCLOSE)$/;

/** Variables that change how a shell runs. */
export const settings = /^(BASH_ENV|PS\d|SHELLOPTS|BASHOPTS|BASH_FUNC[^=]*)(=|$)/;

/** They write files by their words. */
export const copying = names('tee cp mv ln install dd curl wget rsync');

/** They fill variables with what they read. */
export const filling = names('read mapfile readarray getopts printf');

/** A text with a substitution in it, or a letter that may be written otherwise. */
export const hiding = /\$\((?!\()|`|\$'|\$\{[ |]/;

/** Returns whether a builtin takes a word as a number or as the name of an element, which may run a command. */
export function counts(program: string, words: readonly ShellWord[]): boolean {
  if (/^(test|\[|printf)$/.test(program))
    return words.some(({ value = '' }) => /^-[vR]/.test(value));
  const isEvaluating = /^(let|declare|typeset|local|export|readonly|read|unset|getopts)$/.test(
    program,
  );
  return (
    isEvaluating && words.some(({ value, isOpen }) => isOpen || /\[|^-\w*[in]/.test(value ?? ''))
  );
}

const address = String.raw`(?:[\d,$~+!\s]|\/(?:[^/\\\n]|\\.)*\/I?)*`;
const part = String.raw`(?:(?!\1)[^\\\n]|\\.)*\1`;
const substitution = String.raw`s([/|#,@:])${part}${part}[gpiIm\d]*`;

/** Small languages with a form that surely runs nothing, and the flags before the program. */
export const filters: Readonly<
  Record<'awk' | 'sed', { readonly flags: Flags; readonly safe: RegExp }>
> = {
  awk: {
    flags: { taking: 'Fv', alone: '' },
    safe: /^(?!.*(system|getline|@|print[^;}]*>|(^|[^|])\|([^|]|$)))/s,
  },
  sed: {
    flags: { taking: 'e', alone: 'nrEsuz' },
    safe: new RegExp(`^${address}(?:[pdqQ=gGhHnNxDP]|${substitution})?\\s*$`),
  },
};

/** Short flags of a program that runs another: those that take a value, and those that stand alone; then the words before the command. */
export interface Flags {
  readonly taking: string;
  readonly alone: string;
  readonly words?: number;
}

/** Programs that run the command in their words. */
export const wrappers: Readonly<Record<string, Flags>> = {
  env: { taking: 'uC', alone: 'i0v' },
  sudo: { taking: 'CDghpRrtTUu', alone: 'ABbEHKklnNPSvV' },
  doas: { taking: 'Cu', alone: 'Ln' },
  nohup: { taking: '', alone: '' },
  time: { taking: 'fo', alone: 'apqv' },
  nice: { taking: 'n', alone: '0123456789' },
  ionice: { taking: 'cn', alone: 't' },
  timeout: { taking: 'ks', alone: 'fvp', words: 1 },
  stdbuf: { taking: 'ioe', alone: '' },
  setsid: { taking: '', alone: 'cfw' },
  command: { taking: '', alone: 'p' },
  builtin: { taking: '', alone: '' },
  exec: { taking: 'a', alone: 'cl' },
  noglob: { taking: '', alone: '' },
  nocorrect: { taking: '', alone: '' },
  '-': { taking: '', alone: '' },
  busybox: { taking: '', alone: '' },
  toybox: { taking: '', alone: '' },
  xargs: { taking: 'adEILnPs', alone: '0rtxop' },
};

/** Long flags of them that stand alone, or take a value after `=`. */
export const longFlag =
  /^--(preserve-env|login|non-interactive|null|no-run-if-empty|ignore-environment|foreground|verbose|preserve-status|portability|background|stdin|set-home|(preserve-env|chdir|user|group|unset|max-args|max-procs|delimiter|arg-file|signal|kill-after|adjustment|output|error|input|host|prompt)=.*)$/s;
