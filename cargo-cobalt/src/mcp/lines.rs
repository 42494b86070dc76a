//! What a command prints, line by line, until it has ended: not as long as something that it left behind keeps its output open.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// For how long after its end its last lines may come.
const TIME_AFTER_END: Duration = Duration::from_secs(1);
/// No pipe holds more than this many bytes: what comes behind them is not of the command.
const MOST_AFTER_END: usize = 1 << 20;

/// The lines of an output.
pub(super) struct Lines<T> {
    output: BufReader<T>,
    /// What there is of the next one.
    begun: Vec<u8>,
    ended: CancellationToken,
    /// Until when, and for how many bytes, is listened to it after the end.
    after_end: Option<(Instant, usize)>,
}

impl<T: AsyncRead + Unpin> Lines<T> {
    /// Those of a command, which says when it has `ended`.
    pub(super) fn of(output: T, ended: CancellationToken) -> Self {
        Self { output: BufReader::new(output), begun: Vec::new(), ended, after_end: None }
    }

    /// The next line, unless that was the last that was printed until the command ended.
    pub(super) async fn next(&mut self) -> Option<String> {
        if self.after_end.is_none() {
            if let Some(line) = self.ended.clone().run_until_cancelled(self.read()).await {
                return line;
            }
            self.after_end = Some((Instant::now() + TIME_AFTER_END, MOST_AFTER_END));
        }
        let (deadline, left) = self.after_end?;
        if left == 0 {
            return None;
        }
        // Where there is one it is taken, however late it is: who hears it may have been slow.
        let Ok(line) = timeout_at(deadline, self.read()).await else {
            self.after_end = Some((deadline, 0));
            return (!self.begun.is_empty()).then(|| self.take());
        };
        let length = line.as_ref().map_or(0, |line| line.len() + 1);
        self.after_end = Some((deadline, left.saturating_sub(length)));
        line
    }

    /// The next line. Where this is not waited for to the end, nothing is lost.
    async fn read(&mut self) -> Option<String> {
        let is_at_end = self.output.read_until(b'\n', &mut self.begun).await.unwrap_or_default() == 0;
        (!is_at_end || !self.begun.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.begun);
        String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// What is heard of an output that stays open after the command has ended.
    async fn heard(printed: &[u8]) -> Vec<String> {
        let (mut kept_open, output) = tokio::io::duplex(4 * MOST_AFTER_END);
        kept_open.write_all(printed).await.unwrap();
        let ended = CancellationToken::new();
        ended.cancel();
        let (mut lines, mut heard) = (Lines::of(output, ended), Vec::new());
        while let Some(line) = lines.next().await {
            heard.push(line);
        }
        drop(kept_open);
        heard
    }

    #[tokio::test]
    async fn lines_that_are_there_when_the_command_ends_are_heard_though_its_output_stays_open() {
        assert_eq!(heard(b"one\r\ntwo\nand a half").await, ["one", "two", "and a half"]);
        assert!(heard(b"").await.is_empty());
    }

    #[tokio::test]
    async fn what_goes_on_printing_after_the_command_is_not_listened_to_for_ever() {
        let lines = heard(&b"y\n".repeat(MOST_AFTER_END)).await;
        assert_eq!(lines.len(), MOST_AFTER_END / 2);
    }
}
