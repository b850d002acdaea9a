import type { RepositoryRule, SourceFile } from "./repository-rules.ts";

/** Begins like a question, so that a reader has to look for the subject. */
const riddle = /^(What|How|Whether|Who|Where|When)\b/;
/** Leaves open who acts, or which text is meant. */
const vague = /\b(whoever|what(ever)? is told)\b/i;

/** Rules about the English of comments in source. */
export const commentRules: readonly RepositoryRule[] = [
  {
    because: "A docstring begins with a verb or a noun: the subject first, not What, How, Whether, Who, Where or When.",
    find: (files) => places(files, ({ text, isDoc }) => isDoc && riddle.test(text)),
  },
  {
    because: "A comment names who acts and what is said; `whoever` and `what is told` leave it open.",
    find: (files) => places(files, ({ text }) => vague.test(text)),
  },
];

interface Comment {
  readonly text: string;
  readonly isDoc: boolean;
  readonly line: number;
}

function places(files: readonly SourceFile[], isWrong: (comment: Comment) => boolean): string[] {
  return files
    .filter(({ path }) => /^(libs|services|infra|bench|test-e2e)\/.*\.(tsx?|mjs)$/.test(path))
    .flatMap(({ path, text }) =>
      commentsOf(text)
        .filter(isWrong)
        .map(({ line, text: comment }) => `${path}:${line}: ${comment.slice(0, 100)}`),
    );
}

/** A docstring, or a comment of one line, each at the start of its line. */
const comment = /^[ \t]*(?:\/\*\*(?<doc>[\s\S]*?)\*\/|\/\/(?<line>.*)$)/gm;

function commentsOf(source: string): Comment[] {
  return [...source.matchAll(comment)].map(({ index, groups }) => {
    const text = groups?.doc ?? groups?.line ?? "";
    return {
      text: text
        .replaceAll(/^[ \t]*\*[ \t]?/gm, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
      isDoc: groups?.doc !== undefined,
      line: source.slice(0, index).split("\n").length,
    };
  });
}
