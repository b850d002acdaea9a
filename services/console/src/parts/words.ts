/** The words of a text with a space between them. */
export type WordsOf<Text extends string> = Text extends `${infer Word} ${infer Rest}` ? Word | WordsOf<Rest> : Text;
