/**
 * Copies a text; false where the browser does not allow it. Plain http has no clipboard: there the text is selected and
 * copied as by hand.
 */
export async function copyText(text: string): Promise<boolean> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  // A frame may copy only where the page around it allows that.
  if (clipboard)
    return clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const field = document.createElement("textarea");
  field.value = text;
  // What lies outside of an open dialog cannot be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}
