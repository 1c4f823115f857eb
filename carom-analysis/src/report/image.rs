//! Images: one pixel per cell, stored as PNG inside the page and drawn there between axes.

use std::io::Write as _;

use base64::Engine as _;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use serde::Serialize;

use super::chart::split_unit;

/// An image of coloured cells; the first row is at the bottom.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Image {
    /// Caption above the image.
    pub title: String,
    /// Text below the image.
    pub note: String,
    /// Labels of the axes with their units, e.g. `x [m]`.
    pub labels: [String; 2],
    /// What the left and the right edge of the image stand for, and its lower and upper edge.
    pub ranges: [[f64; 2]; 2],
    /// What the colours mean.
    pub swatches: Vec<([u8; 3], String)>,
    /// Cells in a row.
    pub width: usize,
    /// Red, green and blue of each cell, row by row from the bottom; a last row that is not full is left out.
    pub cells: Vec<[u8; 3]>,
}

impl Image {
    /// Rows of cells.
    pub fn height(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// The bytes of a PNG file [iso15948].
    pub fn png(&self) -> Vec<u8> {
        let (width, height) = (self.width, self.height());
        let mut raw = Vec::with_capacity(height * (3 * width + 1));
        for row in self.cells.chunks_exact(width.max(1)).rev() {
            // filter 0: bytes as they are
            raw.push(0);
            raw.extend(row.iter().flatten());
        }
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::new(9));
        // writing into memory cannot fail
        let packed = packer.write_all(&raw).and_then(|()| packer.finish()).unwrap_or_default();
        let mut file = vec![0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
        let mut header = Vec::new();
        header.extend((width as u32).to_be_bytes());
        header.extend((height as u32).to_be_bytes());
        // 8 bits per channel, true colour, no interlace
        header.extend([8, 2, 0, 0, 0]);
        for (kind, data) in [(b"IHDR", &header), (b"IDAT", &packed), (b"IEND", &Vec::new())] {
            file.extend((data.len() as u32).to_be_bytes());
            file.extend(kind);
            file.extend(data);
            let mut sum = Crc::new();
            sum.update(kind);
            sum.update(data);
            file.extend(sum.sum().to_be_bytes());
        }
        file
    }

    /// What the page draws.
    pub(super) fn data(&self) -> ImageData<'_> {
        let [(x_label, x_unit), (y_label, y_unit)] = [0, 1].map(|k| split_unit(&self.labels[k]));
        let css = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
        let swatches = self.swatches.iter().map(|(colour, name)| (css(*colour), name.as_str())).collect();
        let png = base64::engine::general_purpose::STANDARD.encode(self.png());
        let cells = [self.width, self.height()];
        let image = Picture { png, cells, ranges: self.ranges, y_unit, swatches };
        ImageData { title: &self.title, note: &self.note, x_label, x_unit, y_label, image, series: [] }
    }
}

/// The form of an image in the page: a chart without curves.
#[derive(Serialize)]
pub(super) struct ImageData<'a> {
    title: &'a str,
    note: &'a str,
    x_label: &'a str,
    x_unit: &'a str,
    y_label: &'a str,
    image: Picture<'a>,
    series: [(); 0],
}

#[derive(Serialize)]
struct Picture<'a> {
    png: String,
    cells: [usize; 2],
    ranges: [[f64; 2]; 2],
    y_unit: &'a str,
    swatches: Vec<(String, &'a str)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    /// Reads the file back by the rules of the format.
    #[test]
    fn the_file_is_a_png_with_the_cells_upside_down() {
        let cells = vec![[255, 0, 0], [0, 255, 0], [0, 0, 255], [1, 2, 3], [4, 5, 6], [7, 8, 9]];
        let image = Image { width: 2, cells, ..Image::default() };
        let file = image.png();
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&file[12..29], b"IHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0");
        let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
        let mut raw = Vec::new();
        flate2::read::ZlibDecoder::new(&file[41..41 + length]).read_to_end(&mut raw).unwrap();
        assert_eq!(raw, [0, 4, 5, 6, 7, 8, 9, 0, 0, 0, 255, 1, 2, 3, 0, 255, 0, 0, 0, 255, 0]);
        assert_eq!(&file[file.len() - 12..], b"\0\0\0\0IEND\xae\x42\x60\x82");
    }

    #[test]
    fn the_page_gets_axes_and_swatches() {
        let image = Image {
            labels: ["x [m]".into(), "v [m/s]".into()],
            ranges: [[0.0, 1.0], [-2.0, 2.0]],
            swatches: vec![([255, 0, 10], "<one>".into())],
            ..Image::default()
        };
        let json = serde_json::to_value(image.data()).unwrap();
        assert_eq!((&json["x_unit"], &json["image"]["y_unit"]), (&"m".into(), &"m/s".into()));
        assert_eq!(json["image"]["swatches"].to_string(), "[[\"#ff000a\",\"<one>\"]]");
        assert_eq!(image.height(), 0);
    }
}
