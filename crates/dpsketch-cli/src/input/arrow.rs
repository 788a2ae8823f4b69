//! Arrow IPC, as a stream or as a file, which is a stream between two magic words with a table of contents behind it.

use std::io::{self, BufReader, Read};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{MessageHeader, RecordBatch as BatchHeader, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use dpsketch::{Error, ErrorKind, is_hashable};

use super::columns::{self, Names};
use super::guard::guarded;

/// What a file begins with, padded to eight bytes.
const FILE_MAGIC: &[u8; 8] = b"ARROW1\0\0";

/// Zeros that may follow it, so that the stream begins at a multiple of 8 or 64 bytes.
const MAX_PADDING: usize = 64;

/// Before the length of a message; very old streams leave it out.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// A compressed buffer that claims to be longer unpacked is refused: the decoder makes room before it looks.
const MAX_UNPACKED: i64 = 1 << 31;

/// Hands the wanted columns of every batch to `sink`. `is_file` skips the magic word before the stream.
pub(crate) fn read(
    name: &str,
    reader: impl Read,
    is_file: bool,
    wanted: &[String],
    mut sink: impl FnMut(Vec<ArrayRef>) -> Result<(), Error>,
) -> Result<(), Error> {
    let unreadable = |error| Error::reading(name, error).argument("INPUT");
    let mut reader = BufReader::new(reader);
    let first = if is_file { skip_magic(&mut reader).map_err(unreadable)? } else { Vec::new() };
    let mut reader = first.as_slice().chain(reader);
    let mut decoder = StreamDecoder::new();
    let mut positions = None;
    loop {
        let message = Message::read(&mut reader).map_err(unreadable)?;
        let at_end = message.is_none();
        let batches = guarded(name, || {
            // The end mark makes the decoder finish a last message without a body.
            let message = message.unwrap_or_default();
            message.check().map_err(|what| damaged(name, what))?;
            message.decode(&mut decoder).map_err(|error| damaged(name, &error.to_string()).caused_by(error))
        })?;
        if let (None, Some(schema)) = (&positions, decoder.schema()) {
            positions = Some(wanted_columns(name, &schema, wanted)?);
        }
        for batch in batches {
            let positions = positions.iter().flatten();
            sink(positions.map(|position| batch.column(*position).clone()).collect())?;
        }
        if at_end && positions.is_none() {
            return Err(damaged(name, "it ends before its schema"));
        }
        if at_end {
            return Ok(());
        }
    }
}

/// Passes over the magic word of a file and the zeros behind it; the first word of the stream.
fn skip_magic(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut magic = [0; FILE_MAGIC.len()];
    reader.read_exact(&mut magic)?;
    if magic != *FILE_MAGIC {
        return Err(invalid("the magic word of an Arrow file is missing"));
    }
    let mut word = [0; 4];
    for _ in 0..MAX_PADDING / word.len() {
        reader.read_exact(&mut word)?;
        if word != [0; 4] {
            return Ok(word.to_vec());
        }
    }
    Err(invalid("nothing but zeros follows the magic word"))
}

fn wanted_columns(name: &str, schema: &SchemaRef, wanted: &[String]) -> Result<Vec<usize>, Error> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let positions = columns::positions(name, Names::of_schema(&names), wanted)?;
    for position in &positions {
        let field = schema.field(*position);
        if !is_hashable(field.data_type()) {
            return Err(super::not_hashable(name, field.name(), field.data_type()));
        }
    }
    Ok(positions)
}

/// One message of the stream: what it is, and the buffers it speaks of. The empty one is the end mark.
#[derive(Default)]
struct Message {
    metadata: Vec<u8>,
    body: Vec<u8>,
}

impl Message {
    /// The next message; `None` at the end of the stream. Memory grows with the bytes that are really there.
    fn read(reader: &mut impl Read) -> io::Result<Option<Self>> {
        let mut word = [0; 4];
        if !read_or_end(reader, &mut word)? {
            return Ok(None);
        }
        if word == CONTINUATION {
            reader.read_exact(&mut word)?;
        }
        let length = u64::try_from(i32::from_le_bytes(word)).map_err(|_| invalid("a message of negative length"))?;
        if length == 0 {
            return Ok(None);
        }
        let metadata = read_bytes(reader, length)?;
        let message = root_as_message(&metadata).map_err(|_| invalid("a message that cannot be read"))?;
        let length = u64::try_from(message.bodyLength()).map_err(|_| invalid("a body of negative length"))?;
        let body = read_bytes(reader, length)?;
        Ok(Some(Self { metadata, body }))
    }

    /// Checks the claimed lengths of compressed buffers.
    fn check(&self) -> Result<(), &'static str> {
        if self.metadata.is_empty() {
            return Ok(());
        }
        let message = root_as_message(&self.metadata).map_err(|_| "a message cannot be read")?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
            _ => None,
        };
        match batch {
            Some(batch) if batch.compression().is_some() => self.check_buffers(&batch),
            _ => Ok(()),
        }
    }

    fn check_buffers(&self, batch: &BatchHeader<'_>) -> Result<(), &'static str> {
        for buffer in batch.buffers().iter().flatten() {
            let start = usize::try_from(buffer.offset()).map_err(|_| "a buffer begins before its body")?;
            // The first eight bytes of a compressed buffer are its length when unpacked, or -1.
            let claimed = self.body.get(start..).and_then(|bytes| bytes.first_chunk::<8>());
            if buffer.length() >= 8 && claimed.is_some_and(|claimed| i64::from_le_bytes(*claimed) > MAX_UNPACKED) {
                return Err("a compressed buffer claims to be longer than 2 GiB");
            }
        }
        Ok(())
    }

    /// Batches that are complete now. A message without a body is completed only by what comes after it.
    fn decode(self, decoder: &mut StreamDecoder) -> Result<Vec<RecordBatch>, ArrowError> {
        let length = u32::try_from(self.metadata.len()).unwrap_or(u32::MAX);
        let head = [&CONTINUATION[..], &length.to_le_bytes(), &self.metadata].concat();
        let mut batches = Vec::new();
        for bytes in [head, self.body] {
            let mut buffer = bytes.into();
            while let Some(batch) = decoder.decode(&mut buffer)? {
                batches.push(batch);
            }
        }
        Ok(batches)
    }
}

fn read_bytes(reader: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Fills `word`, or finds the reader at its end.
fn read_or_end(reader: &mut impl Read, word: &mut [u8; 4]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < word.len() {
        match reader.read(&mut word[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn damaged(name: &str, what: &str) -> Error {
    Error::new(ErrorKind::Damaged, format!("{name} is not readable Arrow data: {what}"))
        .argument("INPUT")
        .value(name)
        .hint("copy or write the file again")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use arrow_array::StringArray;
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

    fn written(compression: Option<CompressionType>, file: bool) -> Vec<u8> {
        let users: StringArray = (0..300).map(|number| Some(format!("user {}", number % 7))).collect();
        let batch = RecordBatch::try_from_iter([("user", Arc::new(users) as ArrayRef)]).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        if file {
            let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        } else {
            let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        }
    }

    fn rows(bytes: &[u8], file: bool) -> Result<usize, Error> {
        let mut rows = 0;
        read("t", bytes, file, &[], |columns| {
            rows += columns[0].len();
            Ok(())
        })?;
        Ok(rows)
    }

    const COMPRESSIONS: [Option<CompressionType>; 3] =
        [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];

    #[test]
    fn files_and_streams_are_read_compressed_or_not() {
        for compression in COMPRESSIONS {
            for file in [false, true] {
                assert_eq!(rows(&written(compression, file), file).unwrap(), 600, "{compression:?} {file}");
            }
        }
    }

    #[test]
    fn damage_ends_in_an_error_or_a_batch_and_never_in_a_panic_or_an_allocation_without_bound() {
        for compression in COMPRESSIONS {
            let whole = written(compression, false);
            for at in 0..whole.len() {
                for flip in [1, 0x40, 0x80, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= flip;
                    let _ = rows(&bytes, false);
                }
            }
            for length in 1..whole.len() - 8 {
                let cut = rows(&whole[..length], false);
                // Between two messages a stream may end.
                assert!(cut.is_err() || cut.is_ok_and(|rows| rows % 300 == 0), "{length}");
            }
        }
    }

    #[test]
    fn a_stream_of_a_schema_alone_or_of_empty_batches_has_no_rows() {
        let users: StringArray = Vec::<Option<&str>>::new().into();
        let batch = RecordBatch::try_from_iter([("user", Arc::new(users) as ArrayRef)]).unwrap();
        for batches in 0..3 {
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            for _ in 0..batches {
                writer.write(&batch).unwrap();
            }
            let whole = writer.into_inner().unwrap();
            assert_eq!(rows(&whole, false).unwrap(), 0);
            // Without the end mark, too.
            assert_eq!(rows(&whole[..whole.len() - 8], false).unwrap(), 0);
        }
        assert!(rows(b"", false).is_err());
    }

    #[test]
    fn a_buffer_that_claims_to_be_huge_is_refused_before_room_is_made() {
        for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let whole = written(Some(compression), false);
            let mut reader = whole.as_slice();
            let mut checked = 0;
            while let Some(mut message) = Message::read(&mut reader).unwrap() {
                message.check().unwrap();
                let header = root_as_message(&message.metadata).unwrap();
                let buffers = header.header_as_record_batch().and_then(|batch| batch.buffers());
                let long = buffers.iter().flatten().find(|buffer| buffer.length() > 8).map(arrow_ipc::Buffer::offset);
                let Some(start) = long.map(|offset| usize::try_from(offset).unwrap()) else { continue };
                for (claimed, refused) in
                    [(MAX_UNPACKED, false), (MAX_UNPACKED + 1, true), (1 << 46, true), (i64::MAX, true)]
                {
                    message.body[start..start + 8].copy_from_slice(&claimed.to_le_bytes());
                    assert_eq!(message.check().is_err(), refused, "{claimed}");
                }
                checked += 1;
            }
            assert_eq!(checked, 2);
        }
    }
}
