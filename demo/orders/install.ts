/** What Chromium tells of, and others do not: the page can be installed. */
interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

/** Shows the button for as long as the browser offers to install the page. */
export function offerInstallation(button: HTMLButtonElement): void {
  let offered: InstallPrompt | undefined;
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    offered = event as InstallPrompt;
    button.hidden = false;
  });
  button.addEventListener('click', () => void offered?.prompt());
  addEventListener('appinstalled', () => {
    button.hidden = true;
  });
}
