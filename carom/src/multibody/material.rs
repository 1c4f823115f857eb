//! Materials: coefficients that shapes bring along, and how those of two shapes make the ones of their contact.

use super::contact::Surface;

/// What shapes are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name.
    pub name: String,
    /// Coefficients between two bodies of this material.
    pub surface: Surface,
}

/// How the coefficients of two materials make those of their contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The smaller one.
    Minimum,
    /// The larger one.
    Maximum,
    /// Half of their sum.
    Mean,
    /// The root of their product.
    GeometricMean,
    /// Their product, also between two bodies of one material.
    Product,
}

impl Combine {
    /// All of them by name.
    pub const ALL: [(&'static str, Combine); 5] = [
        ("minimum", Combine::Minimum),
        ("maximum", Combine::Maximum),
        ("mean", Combine::Mean),
        ("geometric-mean", Combine::GeometricMean),
        ("product", Combine::Product),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Combine::ALL.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }

    /// The coefficient of two.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Combine::Minimum => a.min(b),
            Combine::Maximum => a.max(b),
            Combine::Mean => 0.5 * (a + b),
            // equal ones stay as they are
            Combine::GeometricMean if a == b => a,
            Combine::GeometricMean => (a * b).sqrt(),
            Combine::Product => a * b,
        }
    }

    fn surface(self, a: Surface, b: Surface) -> Surface {
        Surface {
            restitution: self.of(a.restitution, b.restitution),
            tangential: self.of(a.tangential, b.tangential),
            friction: self.of(a.friction, b.friction),
            rolling: self.of(a.rolling, b.rolling),
            spinning: self.of(a.spinning, b.spinning),
        }
    }
}

/// Materials, pairs of them with coefficients of their own, and the rule for all other pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Materials {
    /// The materials.
    pub all: Vec<Material>,
    /// Pairs with coefficients of their own.
    pub pairs: Vec<([String; 2], Surface)>,
    /// The rule for other pairs. Without one, bodies of one material have its coefficients, and two materials need a
    /// pair.
    pub combine: Option<Combine>,
}

impl Materials {
    /// The coefficients between two materials, where they are known.
    pub fn between(&self, a: &str, b: &str) -> Option<Surface> {
        let is = |pair: &[String; 2]| pair[0] == a && pair[1] == b || pair[0] == b && pair[1] == a;
        if let Some((_, surface)) = self.pairs.iter().find(|(pair, _)| is(pair)) {
            return Some(*surface);
        }
        let find = |name: &str| self.all.iter().find(|material| material.name == name).map(|found| found.surface);
        let (first, second) = (find(a)?, find(b)?);
        match self.combine {
            Some(rule) => Some(rule.surface(first, second)),
            None => (a == b).then_some(first),
        }
    }
}
