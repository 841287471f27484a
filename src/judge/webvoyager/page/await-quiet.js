/* eslint-disable no-unused-expressions -- the file is one function, which page-scripts.ts hands to the browser */
// Resolves once the document has not changed for `quietMs`, or after `limitMs`. With `afterChange` it waits for a change first.
({ quietMs, limitMs, afterChange }) =>
  new Promise((resolve) => {
    let timer;
    const observer = new MutationObserver(() => restart());
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(limit);
      observer.disconnect();
      resolve(true);
    };
    const restart = () => {
      clearTimeout(timer);
      timer = setTimeout(finish, quietMs);
    };
    const limit = setTimeout(finish, limitMs);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    if (!afterChange) restart();
  });
