import { fileName, type ShellWord } from './words.js';

/** Programs by what they do with their words. A program that is in no list runs no other, as far as its words show none. */

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Their words are data. */
export const plain = names(
  'echo printf grep egrep fgrep rg ag ack gh info which type whereis whatis apropos help tldr cat ls jq : true false logger basename dirname rm cp mv mkdir touch head tail wc sort uniq cut tr diff cd pwd curl wget tee sponge',
);

/** Shells whose language is read here. */
export const shells = names('sh bash dash ash zsh ksh mksh yash rbash');

/** They give a new meaning to what follows, or run what is typed into them. */
export const closing = names(
  'run-parts alias hash enable bind complete compgen fc vi vim nvim view ex ed emacs gdb lldb expect',
);

/** They run what their words or their input say, in a way of their own: what is not known of them closes. */
export const remote = names(
  'ssh su script watch parallel docker podman nerdctl kubectl tmux screen flock systemd-run nix-shell at batch crontab entr mapfile readarray chroot unshare nsenter runuser',
);

/** The same of their words; their input is data. */
export const launcher =
  /^(chrt|taskset|strace|ltrace|prlimit|setarch|setpriv|capsh|sg|pkexec|runcon|dbus-run-session|xvfb-run|dumb-init|tini|gosu|su-exec|valgrind|perf|hyperfine|watchexec|nodemon|unbuffer|chronic|caffeinate|proxychains4?|torsocks|firejail|bwrap|fakeroot|faketime|numactl|choom|cgexec|cpulimit|trickle|start-stop-daemon|ld(-linux.*)?\.so.*|ld-linux.*)$/;

/** They run a text that is the value of such a flag, or the word after such a word. */
export const texted =
  /^(npx|npm|pnpm|yarn|bunx?|uvx?|poetry|pipenv|bundle|conda|tar|bsdtar|split|rsync|zip|g?make|man|less)$/;
export const textFlag =
  /^(-(c|e|I|F|P|TT)|--(call|command|filter|to-command|use-compress-program|checkpoint-action|info-script|new-volume-script|rsh|exec|eval|pager)(=.*)?|exec|x|run)$/;

/** Containers: their words that run nothing in one, and their flags with a value. */
export const container = /^(docker|podman|nerdctl|kubectl)$/;
export const quietWord =
  /^(build|ps|images|logs|inspect|pull|push|tag|kill|stop|rm|rmi|cp|info|version|login|stats|volume|network|system|get|describe|apply|delete|config|rollout|scale|top|port-forward|wait)$/;
export const valueFlag =
  /^(-[vewpnfltu]|--(name|env|env-file|volume|workdir|namespace|user|file|tag|publish|network))$/;

/** Files that programs run without being told to. */
const recipes: readonly (readonly [RegExp, string])[] = [
  [/^g?make$/, 'makefile gnumakefile'],
  [/^(npm|npx|yarn|pnpm|bun)$/, 'package.json .npmrc .yarnrc .yarnrc.yml'],
  [/^git$/, 'config .gitconfig pre-commit commit-msg post-commit prepare-commit-msg pre-push'],
  [/^git$/, 'post-checkout post-merge pre-rebase pre-merge-commit post-rewrite'],
  [/^(just|rake|cargo|pytest)$/, 'justfile .justfile rakefile build.rs conftest.py'],
  [/^\w*sh$/, '.profile .bash_profile .bash_login .bashrc .zshenv .zprofile .zshrc'],
  [/^(node|bun|deno|python[\d.]*)$/, 'index.js __main__.py'],
];

/** The names of files that a program runs without being told to. */
export function recipesOf(program: string): readonly string[] {
  return recipes.flatMap(([of, files]) => (of.test(program) ? files.split(' ') : []));
}

/** Settings of git that run nothing. */
export const quietSetting =
  /^(user|color|advice|init|safe|http|protocol|core\.(quotepath|autocrlf|longpaths))\b/i;

/** Flags of programs of data, and an address of git, that run commands. */
export const launching =
  /^(--(pre(=|$)|hostname-bin|op|u(p(l.*)?)?(=|$)|rece|exe?(c.*)?(=|$)|co(m.*)?(=|$)|use-a)|-O|ext::)/;

/** Flags of git before its word that run nothing. */
export const quietFlag =
  /^(-p|-P|--(no-pager|paginate|bare|version|help)|--(git-dir|work-tree)=.*)$/s;

/** Words of git that run commands. */
export const running = names('bisect submodule filter-branch rebase difftool mergetool config');

/** Programs of other languages, which are not read: code in their words or their input is unknown. */
export const interpreter =
  /^(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|osascript|pwsh|powershell|r|rscript|guile|irb|runghc|julia|groovy|scala|jshell|fish|csh|tcsh|elvish|nu|xonsh|cmd)[\d.]*$/;

/** Flags of an interpreter that bring no code; of Python, which has `-E` and `-I` without a value, some more. */
export const harmless =
  /^(-[qvVh]|--(version|help|test|watch|check|no-[\w-]+|enable-source-maps|max-old-space-size=\d+|experimental-strip-types|env-file=.*))$/;
export const harmlessOfPython = /^-[uBOISEqvVhb]+$/;

/** Modules of Python that run what their words say. */
export const runningModule =
  /^(timeit|pdb|trace|profile|cProfile|code|runpy|doctest|IPython|xonsh|coverage|asyncio|idlelib.*)$/;

/** Variables whose value is run as a command. */
export const runVariable =
  /(PAGER|EDITOR|VISUAL|BROWSER|_SSH|_RSH|_COMMAND|_DIFF|ASKPASS|LESSOPEN|LESSCLOSE)$/;

/** Returns whether a variable is run, or changes how programs run. */
export function isCommand(name: string): boolean {
  return runVariable.test(name) || settings.test(`${name}=`);
}

/** Variables that change how a shell or another program runs. */
export const settings =
  /^((BASH_ENV|PS\d|SHELLOPTS|BASHOPTS|BASH_FUNC[^=]*|GIT_CONFIG_(COUNT|KEY|VALUE|PARAMETERS)\w*|(GNU)?MAKEFLAGS|TAR_OPTIONS|PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|LD_PRELOAD|LD_AUDIT)(=|$)|NODE_OPTIONS=(?!(\s*--(max-old-space-size=\d+|no-[\w-]+|enable-source-maps))*$))/;

const copying = names('tee cp mv ln install dd rsync sponge');
const saving = names('curl wget sort uniq split csplit xxd openssl gpg');

/** The names of the files that a program may write by its words; an empty one for a name that is not known. */
export function writtenBy(program: string, words: readonly ShellWord[]): readonly string[] {
  const isInPlace = /^g?sed$/.test(program) && words.some(({ start }) => /^-\w*i|^--i/.test(start));
  const isPrinting = program === 'find' && words.some(({ start }) => /^-f(pr|ls)/.test(start));
  const isMaking =
    program === 'patch' ||
    (program === 'git' && /^(apply|am)$/.test(words[0]?.value ?? '')) ||
    (program.endsWith('tar') && words.some(({ start }) => /^--(tr|xf)/.test(start)));
  if (isMaking) return [''];
  const isCopying = copying.has(program) || isInPlace || isPrinting;
  if (!isCopying && !saving.has(program)) return [];
  return words.flatMap(({ value }, at) => {
    if (value !== undefined) return [fileName(value.replace(/^(\w+=|--[\w-]+=|-\w*?o)/, ''))];
    return isCopying || /^(-\w*[oO]|--out\w*)$/.test(words[at - 1]?.start ?? '') ? [''] : [];
  });
}

/** They fill variables with what they read. */
export const filling = names('read mapfile readarray getopts printf');

/** They set the variables that their words name. */
export const naming =
  /^(read|mapfile|readarray|getopts|printf|export|declare|typeset|local|readonly)$/;

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
    safe: /^(?!.*(system|getline|@|print.*(>|[^|]\|([^|]|$))))/s,
  },
  sed: {
    flags: { taking: 'e', alone: 'nrEsuz' },
    safe: new RegExp(
      `^[{}\\s]*${address}[{\\s]*(?:[pdqQ=gGhHnNxDP]|[aic](?!\\S*$).*|[bt]\\s*\\w*|:\\s*\\w+|${substitution})?[}\\s]*$`,
    ),
  },
};

/** Short flags of a program that runs another: those that take a value, and those that stand alone; then the words before the command. */
export interface Flags {
  readonly taking: string;
  readonly alone: string;
  readonly words?: number;
}

/** Programs that run the command in their words. */
export const wrappers: ReadonlyMap<string, Flags> = new Map(
  Object.entries({
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
  }),
);

/** Long flags of them that stand alone, or take a value after `=`. */
export const longFlag =
  /^--(preserve-env|login|non-interactive|null|no-run-if-empty|ignore-environment|foreground|verbose|preserve-status|portability|background|stdin|set-home|(preserve-env|chdir|user|group|unset|max-args|max-procs|delimiter|arg-file|signal|kill-after|adjustment|output|error|input|host|prompt)=.*)$/s;
