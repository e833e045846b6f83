import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of a journal and of its database. */
export const journalError = errorMaker({
  'bad-value': {
    message: 'Statement "{sql}" cannot be run: {problem}.',
    cause:
      'A value that the database would not give back as it was, or too many or too few of them.',
    hint: 'Bind finite numbers, texts and null, one for each question mark. Put anything else into a JSON text.',
  },
  'database-not-opened': {
    message: 'Database {path} cannot be opened: {problem}.',
    cause: 'The folder is not there or may not be written to, or the path names a folder.',
    hint: 'Name a file in a folder that this user may write to, and make the folder first.',
  },
  'database-damaged': {
    message: 'Database {path} is damaged, or is no database: {problem}.',
    cause:
      'The file was overwritten, cut off, or copied while it was written to; or it is another file.',
    hint: 'A journal: run `sluice journal repair`, which keeps what is well and a copy of it all. Another file: move it and those beside it ({path}-wal, {path}-shm) away, and put a copy in their place.',
  },
  'database-full': {
    message: 'Database {path} cannot grow: {problem}.',
    cause: 'The disk is full, or the database has as many pages as it may have.',
    hint: 'Make room on the disk, or allow it more pages. The write that failed is not in it.',
  },
  'database-read-only': {
    message: 'Database {path} cannot be written to: {problem}.',
    cause:
      'The file, its folder or the file system is read-only for this user, or it was opened so.',
    hint: 'Let this user write to the file and its folder.',
  },
  'database-busy': {
    message: 'Database {path} is in use: {problem}.',
    cause: 'Another process has been writing to it for longer than the time that is waited.',
    hint: 'Find out who else has the file open, and let one process write to it.',
  },
  'database-io': {
    message: 'Database {path} cannot be read or written: {problem}.',
    cause:
      'The disk, or the network that it is on, failed; or a limit for the size of files was reached.',
    hint: 'See what the system says about the disk; if it is on a server, see that the server runs and that its address is right. The write that failed is not in the database.',
  },
  'database-constraint': {
    message: 'Database {path} refuses a row: {problem}.',
    cause: 'A row breaks a rule of its table: its key is there already, say.',
    hint: 'Look for the row first, or say in the statement what is to be done about it.',
  },
  'database-closed': {
    message: 'Database {path} is closed.',
    cause: 'Something uses it after close().',
    hint: 'Close it last.',
  },
  'database-failed': {
    message: 'Database {path} cannot do that: {problem}.',
    cause: 'The statement is wrong, or the database was used in a way that it does not allow.',
    hint: 'Fix the statement, or the call.',
  },
  'journal-in-use': {
    message: 'Journal {path} is in use by another process.',
    cause: 'A host that runs already has it open, or a command that writes to it.',
    hint: 'Stop that one first, or give this one a journal of its own.',
  },
  'journal-not-repaired': {
    message: 'Journal {path} cannot be repaired: {problem}.',
    cause: 'No row of a journal can be found in it; or it is another file.',
    hint: 'It is as it was. Put a copy in its place, or move it and those beside it ({path}-wal, {path}-shm) away: the host begins a new one.',
  },
  'journal-lost': {
    message: 'Journal {path} is lost to this host: {problem}.',
    cause:
      'The file, or one beside it ({path}-wal, {path}-shm, {path}-lock), was moved, removed or replaced while the host was running, or another process took the journal over. Of a journal on a server: the host was not heard of for a whole lease.',
    hint: 'Put the files back if they were moved, and start the host again. It takes nothing in until then.',
  },
  'not-a-journal': {
    message: 'Database {path} is no journal that can be used: {problem}.',
    cause: 'The path names another database, or a journal that another version of sluice has made.',
    hint: 'Name another file, or use the version that has made it.',
  },
  'letter-scrubbed': {
    message: 'Dead letter "{id}" cannot be tried again: its text was scrubbed.',
    cause:
      'The config scrubs what is kept (`journal.scrub`), or `sluice journal forget` was asked to: the text is no longer what its sender wrote.',
    hint: 'Purge it, and ask its sender to write again.',
  },
  'bad-record-key': {
    message: 'The key {path} of a record cannot be used: {problem}.',
    cause:
      'The file is no key of Ed25519 in PEM, others than its owner may read it, or its folder is not there.',
    hint: 'Give the file mode 0600, put the right key back, or name another file: `journal.record.key` of the config, or `--key`.',
  },
  'record-not-signed': {
    message: 'No checkpoint could be signed: each of {tries} numbers was taken.',
    cause: 'Other hosts sign all the time, or somebody has written into the record of the journal.',
    hint: 'Run `sluice verify`. The host tries again within a minute.',
  },
  'record-not-kept-elsewhere': {
    message: 'The checkpoint could not be appended to {path}: {problem}.',
    cause: 'The folder is not there or may not be written to, or its disk is full.',
    hint: 'Name a file that this user may write to, as `journal.record.checkpoints`. The journal has the checkpoint: `sluice record checkpoint` prints it.',
  },
  'journal-state': {
    message: 'Journal: {what} "{id}" cannot be {wanted}: it is {state}.',
    cause: 'Something ends twice, or goes on after its end.',
    hint: 'Each update and each send ends once. Please report this with the log.',
  },
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof journalError> {}
}
